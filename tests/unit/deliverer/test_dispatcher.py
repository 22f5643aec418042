"""When a dispatcher looks through the ledger: where something waits, and in time when busy."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from services.backbone.clock import Clock, ManualClock, SystemClock
from services.backbone.ledger.deliveries.claims import (
    CLAIM_LIMIT_CHARACTERS,
    Claim,
    Claims,
    Due,
    Settlement,
)
from services.contracts.records import Delivery
from services.contracts.states import CLAIMABLE, State
from services.deliverer.announcer import Announcer
from services.deliverer.assembly import assemble
from services.deliverer.breaker import Send
from services.deliverer.channel import Message, SendWindow
from services.deliverer.channels.log import LogChannel, LogSettings
from services.deliverer.dispatcher import Dispatcher
from services.deliverer.outcomes import Accepted, Outcome, Refused
from services.deliverer.recorder import Recorder
from services.deliverer.sending import Sender
from services.deliverer.settings import DelivererSettings
from tests.unit.deliverer.builders import claims_of, delivery, long_delivery


class AllTaken(Claims):
    """A ledger in which each delivery is in one state, and none is to be had."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.looks = 0
        self.looked = asyncio.Event()

    async def by_id(
        self, delivery_ids: Sequence[str], limit: int, characters: int = CLAIM_LIMIT_CHARACTERS
    ) -> list[Claim]:
        return []

    async def due(self, due: Due) -> list[Claim]:
        self.looks += 1
        self.looked.set()
        return []

    async def states(self, delivery_ids: Sequence[str]) -> dict[str, State]:
        return dict.fromkeys(delivery_ids, self.state)


class AllNew(AllTaken):
    """A ledger in which whatever the topic tells of is to be had."""

    def __init__(self) -> None:
        super().__init__(State.SENT)
        self._records: dict[str, Delivery] = {}

    def add(self, one: Delivery) -> Delivery:
        return self._records.setdefault(one.delivery_id, one)

    async def by_id(
        self, delivery_ids: Sequence[str], limit: int, characters: int = CLAIM_LIMIT_CHARACTERS
    ) -> list[Claim]:
        return claims_of([self._records[each] for each in delivery_ids][:limit], characters)


class Backlog(AllNew):
    """A ledger in which much is due, the longest overdue first."""

    def __init__(self, rows: list[Delivery]) -> None:
        super().__init__()
        self.rows = rows
        self.asked: list[Due] = []

    async def due(self, due: Due) -> list[Claim]:
        self.asked.append(due)
        fits = [
            each
            for each in self.rows
            if each.recipient not in due.without
            and (due.only is None or each.recipient in due.only)
        ][: due.limit]
        claimed = claims_of(fits, due.characters)
        taken = {each.delivery_id for each in claimed}
        self.rows = [each for each in self.rows if each.delivery_id not in taken]
        return claimed


class AtOnce(Sender):
    """Sends and records without waiting for anybody."""

    def __init__(self) -> None:
        self.sent = 0

    async def deliver(
        self, claim: Claim, standing: object, window: object, wait_seconds: float = 0.0
    ) -> None:
        self.sent += 1

    def cut_off(self) -> None:
        pass


class Slow(AtOnce):
    """Sends at once to all whose name does not say that they are slow."""

    def __init__(self) -> None:
        super().__init__()
        self.goes_on = asyncio.Event()

    async def deliver(
        self, claim: Claim, standing: object, window: object, wait_seconds: float = 0.0
    ) -> None:
        if claim.recipient.startswith("slow"):
            await self.goes_on.wait()
        self.sent += 1


class Mute(LogChannel):
    """Answers nothing until it is told to."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(LogSettings(), clock)
        self.asked: list[asyncio.Future[Outcome]] = []

    async def send(self, message: Message, window: SendWindow) -> Outcome:
        window.open()
        self.asked.append(asyncio.get_running_loop().create_future())
        return await self.asked[-1]

    def answer(self) -> int:
        """Take all that was sent, and return how many these were."""
        asked, self.asked = self.asked, []
        for one in asked:
            one.set_result(Accepted())
        return len(asked)


class Kept(Recorder):
    """Has every outcome recorded at once."""

    def __init__(self) -> None:
        pass

    async def record(self, settlement: Settlement) -> State:
        return State.CLAIMED


class Silent(Announcer):
    """Tells nothing."""

    def __init__(self) -> None:
        pass

    def moved(self, *_: object, **__: object) -> None:
        pass


@asynccontextmanager
async def running(
    claims: Claims,
    clock: Clock | None = None,
    sweep_seconds: float = 3600.0,
    paused: bool | None = False,
    per_recipient: bool = False,
    first_sends: int = 32,
) -> AsyncIterator[Dispatcher]:
    """Run a dispatcher, which looks by itself at its start and each `sweep_seconds`.

    With `paused` None it was not told yet whether its channel is stopped.
    """
    clock = clock or SystemClock()
    settings = DelivererSettings(
        channel="log", sweep_seconds=sweep_seconds, breaker_failures_limit=first_sends
    )
    channel = LogChannel(LogSettings(), clock)
    channel.traits = replace(channel.traits, breaker_per_recipient=per_recipient)
    parts = assemble(settings, channel, clock, asyncio.get_running_loop().create_task)
    parts.dispatcher.claims = claims
    if paused is not None:
        parts.dispatcher.heed(paused)
    task = asyncio.create_task(parts.dispatcher.run())
    try:
        yield parts.dispatcher
    finally:
        await parts.dispatcher.drain(5.0, 5.0)
        await task
        await channel.close()
        parts.producer.close(0.0)


async def others_run() -> None:
    """Let every task do what it can do without time passing."""
    for _ in range(10):
        await asyncio.sleep(0)


@pytest.mark.parametrize("state", State)
async def test_what_was_taken_before_it_was_told_of_makes_nobody_look(state: State) -> None:
    claims = AllTaken(state)
    async with running(claims) as dispatcher:
        await claims.looked.wait()
        told = [delivery(number) for number in range(3)]
        assert await dispatcher.take(told) == set()
        if state in CLAIMABLE:
            claims.looked.clear()
            await claims.looked.wait()
        await others_run()
        assert claims.looks == 1 + (state in CLAIMABLE)


async def test_sends_that_end_all_the_time_put_off_no_look() -> None:
    """Retries and what no message tells of are found by a look alone."""
    claims, clock, sender = AllNew(), ManualClock(), AtOnce()
    async with running(claims, clock, sweep_seconds=1.0) as dispatcher:
        dispatcher.sender, dispatcher.announcer = sender, Silent()
        await claims.looked.wait()
        for number in range(201):
            clock.move(0.05)
            assert await dispatcher.take([claims.add(delivery(number))]) == set()
            await others_run()
        assert sender.sent == 201
        assert claims.looks == 1 + 10


async def test_nothing_is_claimed_before_it_is_known_whether_the_channel_is_stopped() -> None:
    claims, sender = AllNew(), AtOnce()
    async with running(claims, paused=None) as dispatcher:
        dispatcher.sender, dispatcher.announcer = sender, Silent()
        assert await dispatcher.take([claims.add(delivery(1))]) == set()
        await others_run()
        assert (claims.looks, sender.sent) == (0, 0)
        dispatcher.heed(paused=False)
        await claims.looked.wait()


async def test_an_open_breaker_is_looked_for_as_seldom_as_the_ledger_and_at_news() -> None:
    claims, clock, sender = AllNew(), ManualClock(), AtOnce()
    async with running(claims, clock, sweep_seconds=10.0) as dispatcher:
        dispatcher.sender, dispatcher.announcer = sender, Silent()
        await claims.looked.wait()
        down, now = Refused("is down", destination_down=True), clock.monotonic_seconds()
        dispatcher.breakers.note("", Send(down, now, now, pause_seconds=1.0))
        clock.move(1.0)
        for _ in range(50):
            dispatcher.look()
            await others_run()
        assert claims.looks == 2
        clock.move(10.0)
        dispatcher.look()
        await others_run()
        assert claims.looks == 3
        claims.state = State.PENDING
        assert await dispatcher.take([delivery(1)]) == set()
        await others_run()
        assert claims.looks == 4


@pytest.mark.parametrize("paused", [True, False])
async def test_what_is_left_alone_is_told_of_until_a_look_finds_nothing_for_it(
    paused: bool,
) -> None:
    """Nobody looks while the channel is stopped: what waits may be for that destination."""
    claims, clock = AllTaken(State.SENT), ManualClock()
    async with running(claims, clock, sweep_seconds=1.0) as dispatcher:
        await claims.looked.wait()
        dispatcher.heed(paused)
        down, now = Refused("is down", destination_down=True), clock.monotonic_seconds()
        dispatcher.breakers.note("log", Send(down, now, now, pause_seconds=1.0))
        for _ in range(2):
            clock.move(3600.0)
            dispatcher.look()
            await others_run()
        open_ones = dispatcher.breakers.standing(clock.monotonic_seconds())
        assert [each.reason for each in open_ones] == (["is down"] if paused else [])


@pytest.mark.parametrize("is_told", [True, False])
@pytest.mark.parametrize(("characters", "most"), [(0, 16), (100_000, 16), (800_000, 3)])
async def test_a_slow_recipient_leaves_places_to_others_and_loses_no_turn(
    is_told: bool, characters: int, most: int
) -> None:
    """Nobody looks by the clock: what was passed over is looked for when a place is free."""
    slow = [long_delivery(number, characters, recipient="slow") for number in range(40)]
    others = [delivery(number, recipient="well") for number in range(40, 60)]
    claims, sender = Backlog([] if is_told else [*slow, *others]), Slow()
    async with running(claims, paused=None, per_recipient=True) as dispatcher:
        dispatcher.sender, dispatcher.announcer = sender, Silent()
        dispatcher.heed(paused=False)
        if is_told:
            assert await dispatcher.take([claims.add(each) for each in slow]) == set()
            claims.rows = [*slow[len(dispatcher.in_flight) :], *others]
            dispatcher.look()
        for _ in range(20):
            await others_run()
        assert sender.sent == 20
        assert len(dispatcher.in_flight) == most
        sender.goes_on.set()
        for _ in range(60):
            await others_run()
        assert sender.sent == 60


@pytest.mark.parametrize(
    ("per_recipient", "recipients", "most"), [(False, 1, 6), (True, 1, 3), (True, 40, 6)]
)
async def test_of_long_records_only_so_many_are_under_way_and_all_are_sent(
    per_recipient: bool, recipients: int, most: int
) -> None:
    """Each takes ten times its length in memory while its provider has not answered."""
    rows = [long_delivery(n, 800_000, recipient=f"slow {n % recipients}") for n in range(40)]
    claims, sender = Backlog(rows), Slow()
    async with running(claims, paused=None, per_recipient=per_recipient) as dispatcher:
        dispatcher.sender, dispatcher.announcer = sender, Silent()
        dispatcher.heed(paused=False)
        for _ in range(20):
            await others_run()
        assert len(dispatcher.in_flight) == most
        sender.goes_on.set()
        for _ in range(100):
            await others_run()
        assert sender.sent == 40
        assert dispatcher.places.free == 32


class ToldMeanwhile(Backlog):
    """A ledger into which something comes while it is asked, for all or for one recipient alone."""

    def __init__(self, rows: list[Delivery], coming: Delivery, for_all: bool) -> None:
        super().__init__(rows)
        self.coming = [coming]
        self.for_all = for_all
        self.look: Callable[[], None] = lambda: None

    async def due(self, due: Due) -> list[Claim]:
        claimed = await super().due(due)
        if (due.only is None) == self.for_all and self.coming:
            self.rows.append(self.coming.pop())
            self.look()
        return claimed


@pytest.mark.parametrize("for_all", [True, False])
async def test_what_is_told_while_others_are_looked_for_is_looked_for_too(for_all: bool) -> None:
    slow = [delivery(number, recipient="slow") for number in range(20)]
    claims, sender = ToldMeanwhile(slow, delivery(20, recipient="well"), for_all), Slow()
    async with running(claims, paused=None, per_recipient=True) as dispatcher:
        dispatcher.sender, dispatcher.announcer = sender, Silent()
        claims.look = dispatcher.look
        dispatcher.heed(paused=False)
        for _ in range(20):
            await others_run()
        assert len(dispatcher.in_flight) == 16
        sender.goes_on.set()
        for _ in range(60):
            await others_run()
        assert sender.sent == 21


@pytest.mark.parametrize("is_told", [True, False])
@pytest.mark.parametrize(("per_recipient", "most"), [(True, 16), (False, 32)])
async def test_who_has_not_answered_yet_gets_a_few_and_twice_as_many_after_each_answer(
    is_told: bool, per_recipient: bool, most: int
) -> None:
    rows, channel = [delivery(number) for number in range(90)], Mute(SystemClock())
    claims = Backlog([] if is_told else rows)
    async with running(
        claims, paused=None, per_recipient=per_recipient, first_sends=5
    ) as dispatcher:
        sender = dispatcher.sender
        sender.channel, sender.recorder = channel, Kept()
        sender.announcer = dispatcher.announcer = Silent()
        dispatcher.heed(paused=False)
        if is_told:
            assert await dispatcher.take([claims.add(each) for each in rows]) == set()
            claims.rows = rows[len(dispatcher.in_flight) :]
            dispatcher.look()
        rounds = []
        for _ in range(5):
            for _ in range(20):
                await others_run()
            rounds.append(channel.answer())
        assert rounds == [5, 10, min(most, 20), most, min(most, 90 - 35 - most)]


async def test_in_a_storm_to_many_no_recipient_is_passed_over() -> None:
    claims, sender = Backlog([delivery(n, recipient=f"r-{n}") for n in range(200)]), AtOnce()
    async with running(claims, paused=None, per_recipient=True) as dispatcher:
        dispatcher.sender, dispatcher.announcer = sender, Silent()
        dispatcher.heed(paused=False)
        for _ in range(200):
            await others_run()
        assert sender.sent == 200
        assert not any(due.without for due in claims.asked)
