"""A deliverer that is told to stop: what was sent is recorded, and never passes for not sent."""

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from prometheus_client import REGISTRY

from services.backbone.clock import ManualClock, SystemClock
from services.backbone.ledger.deliveries.claims import (
    CLAIM_LIMIT_CHARACTERS,
    Claim,
    Claims,
    Settlement,
)
from services.backbone.reading import Reading
from services.backbone.service import Life
from services.contracts.states import State
from services.deliverer import metrics
from services.deliverer.assembly import Parts, assemble
from services.deliverer.channel import Message, SendWindow
from services.deliverer.channels.log import LogChannel, LogSettings
from services.deliverer.outcomes import Accepted, Outcome, Refused
from services.deliverer.program import Deliverer
from services.deliverer.recorder import Recorder
from services.deliverer.settings import DelivererSettings
from tests.unit.deliverer.builders import delivery

ONE = delivery(1, "log")
CLAIM = Claim(
    *(ONE.delivery_id, ONE.alert.alert_id, ONE.channel, ONE.recipient, ONE.encode().decode()),
    State.PENDING,
    attempt=1,
    fence=1,
    marked_repeat=False,
)
KEY = CLAIM.delivery_id, CLAIM.fence
LONG = 60.0


@dataclass
class Ledger(Claims):
    """Has one delivery; claims and records it when it is let."""

    claims: asyncio.Event = field(default_factory=asyncio.Event)
    records: asyncio.Event = field(default_factory=asyncio.Event)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while somebody waits for either."""
    recorded: list[Settlement] = field(default_factory=list)
    done: asyncio.Event = field(default_factory=asyncio.Event)

    async def by_id(
        self, delivery_ids: Sequence[str], limit: int, characters: int = CLAIM_LIMIT_CHARACTERS
    ) -> list[Claim]:
        self.asked.set()
        await self.claims.wait()
        return [CLAIM]

    async def settle(self, settlements: Sequence[Settlement]) -> dict[str, State]:
        self.asked.set()
        await self.records.wait()
        self.recorded += settlements
        self.done.set()
        return {each.delivery_id: State.CLAIMED for each in settlements}


class Provider(LogChannel):
    """Takes what it is sent; answers when it is let."""

    def __init__(self) -> None:
        super().__init__(LogSettings(), SystemClock())
        self.taken = asyncio.Event()
        self.answers = asyncio.Event()
        self.answer: Outcome = Accepted()
        self.calls_off = False
        """Whether its client ends a send as if the task were cancelled, instead of an answer."""
        self.opens = True

    async def send(self, message: Message, window: SendWindow) -> Outcome:
        if self.opens:
            window.open()
        self.taken.set()
        await self.answers.wait()
        if self.calls_off:
            confirm = asyncio.get_running_loop().create_future()
            confirm.set_exception(asyncio.CancelledError())
            await confirm
        return self.answer


@asynccontextmanager
async def at_work(ledger: Ledger, provider: Provider) -> AsyncIterator[Parts]:
    """Run dispatcher and recorder, with the delivery told of; as a program ends, so does this."""
    async with asyncio.timeout(LONG), asyncio.TaskGroup() as group:
        settings = DelivererSettings(channel="log", producer_timeout_seconds=1.0)
        parts = assemble(settings, provider, SystemClock(), group.create_task)
        parts.dispatcher.claims = parts.recorder.claims = ledger
        parts.dispatcher.heed(paused=False)
        recording = group.create_task(parts.recorder.run())
        taking = group.create_task(parts.dispatcher.take([ONE]))
        yield parts
        await taking
        recording.cancel()
        await provider.close()
        parts.producer.close(0.0)


@pytest.fixture
async def ledger() -> Ledger:
    return Ledger()


@pytest.fixture
async def provider() -> Provider:
    return Provider()


async def test_what_was_answered_stays_in_flight_until_it_is_recorded(
    ledger: Ledger, provider: Provider
) -> None:
    """The sweep gives back own claims that are not in flight: they were never sent."""
    ledger.claims.set()
    provider.answers.set()
    async with at_work(ledger, provider) as parts:
        await provider.taken.wait()
        assert await parts.dispatcher.drain(0.0, 0.0) == 1
        assert parts.dispatcher.in_flight.ids() == [KEY]
        ledger.records.set()
        assert await parts.dispatcher.drain(0.0, LONG) == 0
    assert [each.after for each in ledger.recorded] == [State.SENT]


async def test_what_has_no_answer_is_cut_off_and_recorded_as_in_doubt(
    ledger: Ledger, provider: Provider
) -> None:
    ledger.claims.set()
    ledger.records.set()
    async with at_work(ledger, provider) as parts:
        await provider.taken.wait()
        assert await parts.dispatcher.drain(0.0, LONG) == 0
    (recorded,) = ledger.recorded
    assert recorded.outcome is State.IN_DOUBT
    assert "told to stop" in recorded.reason


async def test_what_is_claimed_too_late_is_given_back_and_not_sent(
    ledger: Ledger, provider: Provider
) -> None:
    ledger.records.set()
    async with at_work(ledger, provider) as parts:
        await ledger.asked.wait()
        assert await parts.dispatcher.drain(0.0, 0.0) == 0
        ledger.claims.set()
        provider.answers.set()
        await ledger.done.wait()
    assert [each.after for each in ledger.recorded] == [State.RETRY_WAIT]
    assert not provider.taken.is_set()


async def test_a_program_ends_although_nothing_could_be_recorded(
    ledger: Ledger, provider: Provider
) -> None:
    """The claim stays as it is: when its lease ends it is in doubt."""
    ledger.claims.set()
    provider.answers.set()
    async with at_work(ledger, provider) as parts:
        await provider.taken.wait()
        assert await parts.dispatcher.drain(0.0, 0.0) == 1
    assert parts.dispatcher.in_flight.ids() == [KEY]
    assert ledger.recorded == []


@pytest.mark.parametrize(("opens", "outcome"), [(True, State.IN_DOUBT), (False, State.RETRY_WAIT)])
async def test_what_the_channels_client_calls_off_is_recorded_and_holds_no_place(
    ledger: Ledger, provider: Provider, opens: bool, outcome: State
) -> None:
    """aiormq does so with what waits for its confirm when no heartbeat comes."""
    provider.calls_off, provider.opens = True, opens
    for each in (ledger.claims, ledger.records, provider.answers):
        each.set()
    async with at_work(ledger, provider) as parts:
        left = parts.dispatcher.places.left
        await ledger.done.wait()
        assert await parts.dispatcher.drain(LONG, LONG) == 0
        assert parts.dispatcher.places.left == left
    (recorded,) = ledger.recorded
    assert recorded.outcome is outcome
    assert "called the send off" in recorded.reason


async def test_a_send_whose_task_is_cancelled_is_over_without_a_record(
    ledger: Ledger, provider: Provider
) -> None:
    """The program ends at once: nobody may take what was not answered for not sent."""
    ledger.claims.set()
    async with at_work(ledger, provider) as parts:
        await provider.taken.wait()
        (sending,) = parts.dispatcher.in_flight.sends.values()
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        assert parts.dispatcher.in_flight.ids() == [KEY]
    assert ledger.recorded == []


async def test_a_loop_that_waits_as_long_as_it_was_told_is_not_stuck(provider: Provider) -> None:
    clock = ManualClock()
    clock.move(1.0)
    life, settings = Life(clock=clock), DelivererSettings(channel="log", sweep_seconds=300.0)
    parts = assemble(settings, provider, clock, asyncio.get_running_loop().create_task)
    parts.dispatcher.turned_at = parts.sweeper.turned_at = clock.monotonic_seconds()
    Deliverer(settings, life, parts, Reading(clock)).report_health()
    clock.move(300.0)
    assert life.health.live() == {}
    clock.move(61.0)
    assert set(life.health.live()) == {"dispatcher", "sweeper"}
    parts.producer.close(0.0)


async def test_who_waits_for_a_record_or_comes_later_is_let_go_when_the_recorder_ends(
    ledger: Ledger,
) -> None:
    end = Settlement(*KEY, outcome=State.SENT, after=State.SENT, late_after=None)
    recorder = Recorder(ledger, SystemClock(), random.Random(1))
    recording = asyncio.create_task(recorder.run())
    waiting = asyncio.create_task(recorder.record(end))
    await ledger.asked.wait()
    recording.cancel()
    for late in (waiting, recorder.record(end)):
        with pytest.raises(asyncio.CancelledError):
            await late


async def test_what_fails_while_the_ledger_is_away_is_counted_as_left_alone(
    ledger: Ledger, provider: Provider
) -> None:
    provider.answer = Refused("busy", retry_after_seconds=LONG, destination_down=True)
    ledger.claims.set()
    metrics.BREAKERS_OPEN.labels("log").set(0)
    async with at_work(ledger, provider) as parts:
        await provider.taken.wait()
        ledger.asked.clear()
        provider.answers.set()
        await ledger.asked.wait()
        left_alone = REGISTRY.get_sample_value(
            "aldebaran_deliverer_breakers_open", {"channel": "log"}
        )
        assert left_alone == 1
        ledger.records.set()
        assert await parts.dispatcher.drain(0.0, LONG) == 0
