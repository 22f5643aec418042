"""Doubts are ended by asking: at the channel's times, by one deliverer, and never for ever."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from services.backbone.clock import ManualClock
from services.backbone.errors import Transient
from services.backbone.ledger.database import AsyncPool, async_pool
from services.backbone.ledger.deliveries.claims import Claims
from services.backbone.ledger.deliveries.evidence import AsyncEvidenceBook
from services.backbone.ledger.deliveries.look_ups import LookUps
from services.backbone.ledger.deliveries.sweeps import Sweeps
from services.backbone.ledger.deliveries.turns import Rate
from services.backbone.settings import LedgerSettings
from services.contracts import topics
from services.contracts.records import DeliveryEvent
from services.contracts.states import State
from services.deliverer.channel import Absent, Doubt, Finding, Taken, Unclear
from services.deliverer.pace import Pace, Paced, Unlimited
from services.deliverer.reconciler import Reconciler
from tests.integration.deliverer.conftest import Bus, Start
from tests.integration.deliverer.ledgers import Ledger
from tests.integration.deliverer.waiting import until
from tests.unit.deliverer.builders import FOUND_AT_MS, delivery

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]

ONE: Final = delivery(1)
TIMES: Final = (5.0, 30.0)
LEASE: Final = 20.0
DEADLINE: Final = 60.0


@dataclass
class Provider:
    """A witness that says what it is told to, and remembers who was asked about."""

    says: Finding | Exception | None = field(default_factory=lambda: Unclear("not seen"))
    asked: list[Doubt] = field(default_factory=list)

    async def look_up(self, doubt: Doubt) -> Finding:
        self.asked.append(doubt)
        if isinstance(self.says, Exception):
            raise self.says
        if self.says is None:
            await asyncio.Event().wait()
            raise AssertionError
        return self.says


@dataclass
class Scene:
    """A doubt that began at second 0, a provider, and time to be moved."""

    ledger: Ledger
    pool: AsyncPool
    provider: Provider = field(default_factory=Provider)
    clock: ManualClock = field(default_factory=lambda: ManualClock(FOUND_AT_MS))
    sends: Pace = field(default_factory=Unlimited)

    async def begin(self, *others: Any) -> None:
        await self.at(0)
        rows = (ONE, *others)
        self.ledger.add(*rows)
        self.ledger.execute("UPDATE deliveries SET next_attempt_at = now() - interval '1 day'")
        claims = Claims(
            self.pool, channel="webhook", owner="dead", lease_seconds=-1, age_limit_seconds=1e6
        )
        assert len(await claims.by_id([each.delivery_id for each in rows], 9)) == len(rows)
        await self.sweeps().lease_over()

    async def at(self, seconds: float) -> None:
        self.clock = ManualClock(FOUND_AT_MS + int(seconds * 1000))
        async with self.pool.connection() as connection:
            await connection.execute(
                "SELECT set_config('aldebaran.now', to_timestamp(%s)::text, false)",
                (self.clock.now_ms() / 1000,),
            )

    async def turn(self, owner: str = "me", timeout: float = 10.0) -> int:
        look_ups = LookUps(self.pool, channel="webhook", owner=owner, times_seconds=TIMES)
        return await Reconciler(
            witness=self.provider,
            look_ups=look_ups,
            book=AsyncEvidenceBook(self.pool),
            clock=self.clock,
            channel="webhook",
            lease_seconds=LEASE,
            timeout_seconds=timeout,
            interval_seconds=1.0,
            share=Unlimited(),
            sends=Paced(self.sends, self.clock),
        ).turn()

    async def to_be_ruled(self) -> int:
        return len(await self.sweeps().doubtful(DEADLINE, asked=1))

    def sweeps(self) -> Sweeps:
        return Sweeps(self.pool, channel="webhook", owner="me", age_limit_seconds=1e6)

    def state(self) -> str:
        return self.ledger.states()[ONE.delivery_id]


@pytest.fixture
async def scene(ledger: Ledger) -> AsyncIterator[Scene]:
    one_connection = {"postgres_url": ledger.url, "postgres_pool_size": 1}
    async with async_pool(LedgerSettings.model_validate(one_connection)) as pool:
        yield Scene(ledger, pool)


async def test_each_time_is_asked_once_whoever_asks(scene: Scene) -> None:
    await scene.begin()
    asked = []
    for seconds in (1, 6, 7, 29, 31, 1000):
        await scene.at(seconds)
        asked.append((await scene.turn("me"), await scene.turn("you")))
    assert asked == [(0, 0), (1, 0), (0, 0), (0, 0), (1, 0), (0, 0)]
    doubt = scene.provider.asked[0]
    assert (doubt.delivery, doubt.attempt) == (ONE, 1)
    assert doubt.claimed_at_ms == FOUND_AT_MS
    assert doubt.lease_over_at_ms == FOUND_AT_MS + 20_000
    assert scene.state() == State.IN_DOUBT
    findings = [row["finding"] for row in scene.ledger.rows("SELECT * FROM look_ups")]
    assert findings == ["Unclear: not seen"] * 2


async def test_an_answer_in_another_encoding_is_kept(scene: Scene) -> None:
    await scene.begin()
    scene.provider.says = Taken("p\udce9\x00", "caf\udce9\x00")
    await scene.at(6)
    assert await scene.turn() == 1
    (answered,) = scene.ledger.rows("SELECT * FROM look_ups")
    assert (answered["finding"], scene.state()) == ("Taken: caf?", State.SENT)


async def test_times_that_were_missed_are_one_question(scene: Scene) -> None:
    await scene.begin()
    await scene.at(100)
    assert [await scene.turn(), await scene.turn()] == [1, 0]


@pytest.mark.parametrize(
    ("finding", "seconds", "after"),
    [
        (Taken("theirs", "listed"), 6, State.SENT),
        (Absent("not listed"), 31, State.RETRY_WAIT),
        (Absent("not listed, too early to say"), 6, State.IN_DOUBT),
        (Unclear("busy"), 31, State.IN_DOUBT),
        (Transient("no network"), 31, State.IN_DOUBT),
    ],
)
async def test_a_finding_moves_only_by_proof(
    scene: Scene, finding: Finding | Exception, seconds: float, after: State
) -> None:
    await scene.begin()
    scene.provider.says = finding
    await scene.at(seconds)
    assert await scene.turn() == 1
    assert scene.state() == after
    assert not scene.ledger.row(ONE)["marked_repeat"]


async def test_an_answer_that_never_comes_is_unclear_and_one_that_was_lost_is_asked_again(
    scene: Scene,
) -> None:
    await scene.begin()
    await scene.at(31)
    scene.provider.says = None
    lost = asyncio.create_task(scene.turn(timeout=100.0))
    while not scene.provider.asked:
        await asyncio.sleep(0)
    lost.cancel()
    await asyncio.gather(lost, return_exceptions=True)
    assert await scene.turn("you", timeout=1.0) == 0
    await scene.at(35)
    assert await scene.turn("you", timeout=0.01) == 1
    (row,) = scene.ledger.rows("SELECT * FROM look_ups")
    assert (row["owner"], row["finding"]) == ("you", "Unclear: the provider did not answer in time")


async def test_a_doubt_is_not_ruled_before_the_last_answer_but_not_kept_for_ever(
    scene: Scene,
) -> None:
    await scene.begin()
    await scene.at(DEADLINE + 1)
    assert await scene.to_be_ruled() == 0
    await scene.turn()
    assert await scene.to_be_ruled() == 1
    scene.ledger.execute("DELETE FROM look_ups")
    await scene.at(2 * DEADLINE + 1)
    assert await scene.to_be_ruled() == 1


async def test_what_is_held_is_still_asked_about(scene: Scene) -> None:
    await scene.begin()
    scene.ledger.execute("UPDATE deliveries SET state = 'HELD'")
    scene.provider.says = Taken("theirs")
    await scene.at(31)
    assert await scene.turn() == 1
    assert scene.state() == State.SENT


async def test_questions_take_turns_of_the_channels_rate(scene: Scene) -> None:
    await scene.begin(delivery(2), delivery(3))
    await scene.at(31)
    scene.sends = Rate(scene.pool, scene.clock, channel="webhook", per_second=100.0, burst=1)
    assert await scene.turn() == 3
    assert (await scene.sends.turns(1)).in_seconds == pytest.approx((0.03,))


def test_a_deliverer_ends_a_doubt_by_its_witness_and_tells_it(
    start: Start, bus: Bus, ledger: Ledger, tmp_path: Path
) -> None:
    one = delivery(1, channel="log", recipient="anybody")
    ledger.add(one)
    ledger.execute("UPDATE deliveries SET state = 'IN_DOUBT', attempt = 1, fence = 1")
    ledger.execute(
        "INSERT INTO attempts (delivery_id, attempt, fence, owner, claimed_at, finished_at,"
        " outcome) VALUES (%s, 1, 1, 'dead', now(), now(), 'IN_DOUBT')",
        one.delivery_id,
    )
    lines = tmp_path / "lines"
    lines.write_text(f'{{"delivery_id": "{one.delivery_id}"}}\n')
    deliverer = start("log", log_channel_file=lines, in_doubt_deadline_seconds=3600)
    until(lambda: ledger.states() == {one.delivery_id: State.SENT}, "sent by evidence")
    assert len(ledger.attempts(one)) == 1

    def told(records: list[Any]) -> bool:
        events = [DeliveryEvent.decode(each.value) for each in records]
        moves = [(e.before, e.after) for e in events if e.delivery_id == one.delivery_id]
        return (State.IN_DOUBT, State.SENT) in moves

    bus.read(topics.DELIVERY_EVENTS, told)
    assert deliverer.metric("aldebaran_deliverer_look_ups_total") == 1
