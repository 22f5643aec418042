"""Evidence against a simple model: any sequence, twice, early, late, about any try.

Goal: whatever comes when, the row and its tries are what the rules of docs/evidence.md say, every
move is one of the table, and each is told once. Method: real statements on a real Postgres.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from services.backbone.ledger.database import AsyncPool, async_pool, open_pool
from services.backbone.ledger.deliveries.claims import Claim, Claims, Settlement
from services.backbone.ledger.deliveries.evidence import (
    AsyncEvidenceBook,
    Evidence,
    EvidenceBook,
    EvidenceKind,
)
from services.backbone.ledger.deliveries.moves import Move
from services.backbone.settings import LedgerSettings
from services.contracts.ids import digest
from services.contracts.states import State, may_move
from tests.integration.deliverer.ledgers import Ledger
from tests.unit.deliverer.builders import delivery

pytestmark = pytest.mark.postgres

ONE: Final = delivery(1)
KEY: Final = ONE.delivery_id
OPEN: Final = (State.IN_DOUBT, State.HELD, State.RETRY_WAIT, State.SUPPRESSED)
TAKEN, ABSENT = EvidenceKind.TAKEN, EvidenceKind.ABSENT
CONFIRMED, UNDELIVERED = EvidenceKind.CONFIRMED, EvidenceKind.UNDELIVERED
RANK: Final = (CONFIRMED, UNDELIVERED, TAKEN, ABSENT)


@dataclass
class Try:
    """What the model knows of one try."""

    outcome: str = ""
    provider_id: str = ""


@dataclass
class Model:
    """One delivery, its tries, and its evidence: what is known, what waits for a claim's end."""

    state: State = State.PENDING
    tries: list[Try] = field(default_factory=list)
    known: set[Evidence] = field(default_factory=set)
    waiting: list[Evidence] = field(default_factory=list)
    told: list[tuple[State, ...]] = field(default_factory=list)

    def give(self, evidence: Evidence) -> None:
        if evidence in self.known:
            return
        self.known.add(evidence)
        self.waiting.append(evidence)

    def weigh(self) -> None:
        if self.state is State.CLAIMED or not self.waiting:
            return
        self.waiting.sort(key=lambda each: each.provider_id, reverse=True)
        self.waiting.sort(key=lambda each: RANK.index(each.kind))
        about = [(each, self.about(each)) for each in self.waiting]
        self.waiting = []
        path = next((path for each, number in about if (path := self.path(each, number))), ())
        before = [Try(each.outcome, each.provider_id) for each in self.tries]
        done: set[int] = set()
        for each, number in about:
            if number is not None and number not in done and self.learns(each, before, number):
                done.add(number)
                own = self.tries[number - 1]
                names = {TAKEN: "SENT", UNDELIVERED: "FAILED", ABSENT: "RETRY_WAIT"}
                own.outcome = names.get(each.kind, "CONFIRMED")
                own.provider_id = each.provider_id or own.provider_id
        if path:
            self.told.append((self.state, *path))
            self.state = path[-1]

    def about(self, each: Evidence) -> int | None:
        """Which try a piece is about, as a number from 1; None if none that we know."""
        if each.attempt:
            return each.attempt
        own = [n for n, one in enumerate(self.tries, 1) if one.provider_id == each.provider_id]
        if each.provider_id and own:
            return own[-1]
        unnamed = not self.tries or not self.tries[-1].provider_id
        return len(self.tries) if not each.provider_id or unnamed else None

    def path(self, each: Evidence, number: int | None) -> tuple[State, ...]:
        outcome = self.tries[number - 1].outcome if number and number in self.numbers() else ""
        others = [one.outcome for n, one in enumerate(self.tries, 1) if n != number]
        sent, is_last = self.state is State.SENT, number == len(self.tries)
        start = () if sent else (State.SENT,)
        released = self.state is State.PENDING and bool(self.tries)
        if not (sent or released or self.state in OPEN):
            return ()
        if each.kind is CONFIRMED:
            return (*start, State.CONFIRMED)
        if each.kind is ABSENT:
            return (State.RETRY_WAIT,) if is_last and self.state is State.IN_DOUBT else ()
        if outcome == "FAILED":
            return ()
        if each.kind is TAKEN:
            return start
        fails = (is_last or (sent and bool(number))) and not {"SENT", "CONFIRMED"} & {*others}
        return (*start, State.FAILED) if fails else ()

    def learns(self, each: Evidence, before: list[Try], number: int) -> bool:
        if number not in self.numbers():
            return False
        outcome = before[number - 1].outcome
        match each.kind:
            case EvidenceKind.CONFIRMED:
                return True
            case EvidenceKind.UNDELIVERED:
                return outcome != "CONFIRMED"
            case EvidenceKind.TAKEN:
                return outcome in ("", "IN_DOUBT", "RETRY_WAIT")
            case EvidenceKind.ABSENT:
                return outcome in ("", "IN_DOUBT")

    def numbers(self) -> range:
        return range(1, len(self.tries) + 1)


@dataclass
class World:
    """The real ledger beside the model."""

    ledger: Ledger
    pool: AsyncPool
    model: Model = field(default_factory=Model)
    claim: Claim | None = None

    @property
    def claims(self) -> Claims:
        return Claims(
            self.pool, channel="webhook", owner="me", lease_seconds=1e6, age_limit_seconds=1e9
        )

    async def give(self, piece: Evidence) -> None:
        applied = await AsyncEvidenceBook(self.pool).give([piece, piece])
        self.compare(applied, lambda: self.model.give(piece))

    async def weigh(self, _: Evidence) -> None:
        applied = await AsyncEvidenceBook(self.pool).weigh("webhook")
        self.compare(applied, lambda: None)

    def compare(self, applied: list[Move], change: Callable[[], None]) -> None:
        before, told = self.model.state, len(self.model.told)
        change()
        self.model.weigh()
        moved = [(each.before, *each.path) for each in applied if each.path]
        assert moved == self.model.told[told:]
        assert all(each.before is before for each in applied)

    async def begin(self, _: Evidence) -> None:
        """Claim, which waits for evidence to be weighed."""
        if len(self.model.tries) == 3:
            return
        (*claimed,) = await self.claims.by_id([KEY], 1)
        free = self.model.state in (State.PENDING, State.RETRY_WAIT) and not self.model.waiting
        assert len(claimed) == free
        if claimed:
            self.claim = claimed[0]
            self.model.state = State.CLAIMED
            self.model.tries.append(Try())

    async def end(self, piece: Evidence) -> None:
        """Settle with an outcome that the piece's kind picks."""
        if self.model.state is not State.CLAIMED or self.claim is None:
            return
        ends = {TAKEN: State.SENT, ABSENT: State.RETRY_WAIT, UNDELIVERED: State.FAILED}
        after = ends.get(piece.kind, State.IN_DOUBT)
        name = piece.provider_id if after is State.SENT else ""
        told = Settlement(KEY, self.claim.fence, after, after, None, 0.0, "", name)
        assert await self.claims.settle([told])
        self.model.state = after
        self.model.tries[-1] = Try(after.value, name)

    async def rule(self, piece: Evidence) -> None:
        """Let time or a person move the row on, as the table allows."""
        moves = {
            State.IN_DOUBT: (State.HELD, State.RETRY_WAIT),
            State.HELD: (State.RETRY_WAIT, State.CLOSED),
            State.FAILED: (State.RETRY_WAIT, State.RETRY_WAIT),
            State.RETRY_WAIT: (State.SUPPRESSED, State.HELD),
            State.SUPPRESSED: (State.PENDING, State.CLOSED),
        }
        if self.model.state not in moves:
            return
        after = moves[self.model.state][piece.kind in (TAKEN, CONFIRMED)]
        assert may_move(self.model.state, after)
        self.ledger.execute("UPDATE deliveries SET state = %s", after.value)
        self.model.state = after

    def check(self) -> None:
        assert self.ledger.states() == {KEY: self.model.state}
        assert [
            (row["outcome"] or "", row["provider_id"]) for row in self.ledger.attempts(ONE)
        ] == [(each.outcome, each.provider_id) for each in self.model.tries]
        rows = self.ledger.rows("SELECT * FROM untold_moves ORDER BY move_id")
        assert [(row["before"], *row["path"]) for row in rows] == self.model.told
        for path in self.model.told:
            assert all(may_move(before, after) for before, after in pairwise(path))


pieces = st.builds(
    Evidence,
    delivery_id=st.just(KEY),
    kind=st.sampled_from([TAKEN, CONFIRMED, UNDELIVERED]),
    source=st.just("callback"),
    provider_id=st.sampled_from(["", "p1", "p2"]),
    attempt=st.integers(0, 3),
) | st.builds(
    Evidence,
    delivery_id=st.just(KEY),
    kind=st.just(ABSENT),
    source=st.just("look-up"),
    attempt=st.integers(1, 3),
)
Step = Callable[[World, Evidence], Awaitable[None]]
STEPS: Final[list[Step]] = [
    World.begin,
    World.end,
    World.give,
    World.give,
    World.weigh,
    World.rule,
]


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(steps=st.lists(st.tuples(st.sampled_from(STEPS), pieces), min_size=4, max_size=20))
@example(
    steps=[
        (World.begin, Evidence(KEY, ABSENT, "look-up", attempt=1)),
        (World.end, Evidence(KEY, ABSENT, "look-up", attempt=1)),
        (World.rule, Evidence(KEY, ABSENT, "look-up", attempt=1)),
        (World.rule, Evidence(KEY, ABSENT, "look-up", attempt=1)),
        (World.give, Evidence(KEY, TAKEN, "callback", attempt=1)),
    ]
)
def test_any_sequence_of_evidence_obeys_the_rules(
    ledger: Ledger, steps: list[tuple[Step, Evidence]]
) -> None:
    asyncio.run(history(ledger, steps))


async def history(ledger: Ledger, steps: list[tuple[Step, Evidence]]) -> None:
    ledger.execute("TRUNCATE alerts CASCADE")
    ledger.add(ONE)
    one_connection = {"postgres_url": ledger.url, "postgres_pool_size": 1}
    async with async_pool(LedgerSettings.model_validate(one_connection)) as pool:
        world = World(ledger, pool)
        for step, piece in [*steps, (World.weigh, steps[0][1])]:
            await step(world, piece)
            world.check()


def test_threads_give_by_the_same_rules(ledger: Ledger) -> None:
    others = [delivery(number) for number in range(2, 4)]
    ledger.add(ONE, *others)
    ledger.execute("UPDATE deliveries SET state = 'IN_DOUBT'")
    unknown = digest("nobody")
    pieces = [
        Evidence(KEY, TAKEN, "callback", "p1", "queued\x00"),
        Evidence(KEY, UNDELIVERED, "callback", "p1", "\ud800 landline"),
        Evidence(others[0].delivery_id, CONFIRMED, "callback", "p2"),
        Evidence(unknown, TAKEN, "callback", "p3"),
    ]
    with open_pool(LedgerSettings.model_validate({"postgres_url": ledger.url})) as pool:
        applied = {each.delivery_id: each for each in EvidenceBook(pool).give(pieces)}
        again = EvidenceBook(pool).give(pieces)
    assert applied.keys() == {KEY, others[0].delivery_id}
    assert applied[KEY].path == (State.SENT, State.FAILED)
    assert applied[KEY].reason == "UNDELIVERED by callback: ? landline"
    assert [each.path for each in again] == [(), ()]
    assert ledger.states() == {
        KEY: "FAILED",
        others[0].delivery_id: "CONFIRMED",
        others[1].delivery_id: "IN_DOUBT",
    }
    assert ledger.row(others[0])["provider_id"] == "p2"


def test_absence_must_say_of_which_try() -> None:
    with pytest.raises(ValueError, match="which"):
        Evidence(KEY, ABSENT, "look-up")


async def test_an_acceptance_that_comes_after_the_doubt_was_ruled_ends_it(ledger: Ledger) -> None:
    ledger.add(ONE)
    settings: dict[str, Any] = {"postgres_url": ledger.url}
    async with async_pool(LedgerSettings.model_validate(settings)) as pool:
        world = World(ledger, pool)
        (claim,) = await world.claims.by_id([KEY], 1)
        ledger.execute("UPDATE deliveries SET state = 'HELD'")
        late = Settlement(KEY, claim.fence, State.SENT, State.SENT, State.SENT, provider_id="p1")
        assert await world.claims.settle([late, late]) == {}
        (applied,) = await AsyncEvidenceBook(pool).weigh("webhook")
        assert (applied.before, applied.path) == (State.HELD, (State.SENT,))
        assert await world.claims.settle([late]) == {}
        assert await AsyncEvidenceBook(pool).weigh("webhook") == []
