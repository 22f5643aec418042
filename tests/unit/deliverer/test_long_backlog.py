"""A backlog that does not end: while it is sent, everything else goes on."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from prometheus_client import REGISTRY

from services.backbone.clock import ManualClock
from services.backbone.ledger.deliveries.claims import Claim, Due
from services.backbone.ledger.deliveries.evidence import AsyncEvidenceBook
from services.backbone.ledger.deliveries.moves import Move
from services.backbone.ledger.deliveries.occasions import Occasion, Occasions
from services.backbone.ledger.deliveries.sweeps import Fenced, Standing, Sweeps, Swept
from services.backbone.ledger.deliveries.untold import UntoldMoves
from services.deliverer.channel import Traits
from services.deliverer.channels.log import PROMISE
from services.deliverer.dispatcher import Dispatcher
from services.deliverer.doubts import DoubtTerms
from services.deliverer.settings import DelivererSettings
from services.deliverer.sweeper import Sweeper
from tests.unit.deliverer.builders import delivery
from tests.unit.deliverer.test_dispatcher import AtOnce, Backlog, Silent, others_run, running
from tests.unit.deliverer.test_probes import leave_alone

LONG_SECONDS = 20.0
CLAIMS = 50
STANDING = Standing(in_doubt=2, held=3, due=5, overdue_seconds=7.5)


class Endless(Backlog):
    """A ledger in which more is due than is ever sent: each claim takes a second, and meanwhile
    all ends that was under way.
    """

    def __init__(self, clock: ManualClock) -> None:
        super().__init__([])
        self._clock = clock
        self._numbers = itertools.count()

    async def due(self, due: Due) -> list[Claim]:
        new = itertools.islice(self._numbers, due.limit)
        self.rows += [delivery(number, recipient=f"r-{number % 50}") for number in new]
        self._clock.move(1.0)
        await others_run()
        return await super().due(due)


class Pressed(Occasions):
    """A channel that always has work for a sweep, and may be stopped by a person."""

    def __init__(self) -> None:
        self.is_paused = False

    async def ask(
        self, known: Sequence[Fenced], deadline_seconds: float, asked: int = -1
    ) -> Occasion:
        return Occasion(self.is_paused, has_work=True)


class NothingToSweep(Sweeps):
    """Sweeps that find nothing."""

    def __init__(self) -> None:
        pass

    async def lost(self, known: Sequence[Fenced]) -> list[Fenced]:
        return []

    async def lease_over(self) -> list[Swept]:
        return []

    async def too_old(self) -> list[Swept]:
        return []

    async def doubtful(self, deadline_seconds: float, asked: int = -1) -> list[Swept]:
        return []

    async def standing(self) -> Standing:
        return STANDING


class NoEvidence(AsyncEvidenceBook):
    """A book in which nothing is to be weighed."""

    def __init__(self) -> None:
        pass

    async def weigh(self, channel: str) -> list[Move]:
        return []


class NothingUntold(UntoldMoves):
    """Moves that were all told of."""

    def __init__(self) -> None:
        pass

    async def take(self) -> list[Move]:
        return []


def sweeper_of(dispatcher: Dispatcher, occasions: Occasions) -> Sweeper:
    """Return one that sweeps without a pause."""
    traits = Traits("log", PROMISE, dedupes_by_key=False)
    return Sweeper(
        occasions=occasions,
        sweeps=NothingToSweep(),
        book=NoEvidence(),
        untold=NothingUntold(),
        in_flight=dispatcher.in_flight,
        announcer=Silent(),
        policy=DelivererSettings(channel="log").policy(traits),
        doubts=DoubtTerms.of(traits, 120.0, has_witness=False),
        clock=dispatcher.clock,
        channel="log",
        interval_seconds=0.0,
        heed=dispatcher.heed,
    )


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(LONG_SECONDS):
        while not condition():
            await others_run()


@asynccontextmanager
async def in_a_backlog(clock: ManualClock, claims: Endless) -> AsyncIterator[Dispatcher]:
    """Run a dispatcher that claims from the backlog, to many recipients."""
    async with running(claims, clock, paused=None, per_recipient=True) as dispatcher:
        dispatcher.sender, dispatcher.announcer = AtOnce(), Silent()
        dispatcher.heed(paused=False)
        await until(lambda: len(claims.asked) > CLAIMS)
        yield dispatcher


async def test_it_turns_and_takes_what_it_is_told_of() -> None:
    clock = ManualClock()
    claims = Endless(clock)
    async with in_a_backlog(clock, claims) as dispatcher:
        assert clock.monotonic_seconds() - dispatcher.turned_at <= 2.0
        told, asked = claims.add(delivery(-1, recipient="told")), len(claims.asked)
        async with asyncio.timeout(LONG_SECONDS):
            assert await dispatcher.take([told]) == set()
        assert len(claims.asked) <= asked + 2


async def test_what_is_left_alone_gets_its_probe() -> None:
    clock = ManualClock()
    claims = Endless(clock)
    async with in_a_backlog(clock, claims) as dispatcher:
        leave_alone(dispatcher, ["dead"])
        await until(lambda: any(due.only == ["dead"] for due in claims.asked))


async def test_how_its_channel_stands_is_shown() -> None:
    clock = ManualClock()
    async with in_a_backlog(clock, Endless(clock)) as dispatcher:
        await sweeper_of(dispatcher, Pressed()).sweep()
    assert shown("aldebaran_deliverer_in_doubt") == STANDING.in_doubt
    assert shown("aldebaran_deliverer_held") == STANDING.held
    assert shown("aldebaran_deliverer_due") == STANDING.due
    assert shown("aldebaran_deliverer_overdue_seconds") == STANDING.overdue_seconds


def shown(metric: str) -> float | None:
    return REGISTRY.get_sample_value(metric, {"channel": "log"})


async def test_a_person_can_stop_it() -> None:
    clock, occasions = ManualClock(), Pressed()
    claims, stop = Endless(clock), asyncio.Event()
    async with in_a_backlog(clock, claims) as dispatcher:
        sweeping = asyncio.create_task(sweeper_of(dispatcher, occasions).run(stop))
        begun = len(claims.asked)
        await until(lambda: len(claims.asked) > begun + CLAIMS)
        occasions.is_paused = True
        await until(lambda: shown("aldebaran_deliverer_paused") == 1)
        asked = len(claims.asked)
        for _ in range(CLAIMS):
            await others_run()
        assert len(claims.asked) == asked
        stop.set()
        await sweeping
