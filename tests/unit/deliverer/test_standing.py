"""What a deliverer shows of its channel, and for how long while the ledger is away."""

import asyncio
from collections.abc import Sequence

from services.backbone.clock import ManualClock
from services.backbone.errors import Transient
from services.backbone.ledger.deliveries.occasions import Occasion
from services.backbone.ledger.deliveries.sweeps import Fenced
from services.deliverer.sweeper import STALE_SECONDS
from tests.unit.deliverer.test_long_backlog import (
    STANDING,
    Endless,
    Pressed,
    in_a_backlog,
    shown,
    sweeper_of,
)

STANDS = ("in_doubt", "held", "due", "overdue_seconds")


class GoesAway(Pressed):
    """A ledger that answers once, and is away for the questions after it; time passes between."""

    def __init__(self, clock: ManualClock, stop: asyncio.Event, apart: Sequence[float]) -> None:
        super().__init__()
        self._clock = clock
        self._stop = stop
        self._apart = [0.0, *apart]

    async def ask(
        self, known: Sequence[Fenced], deadline_seconds: float, asked: int = -1
    ) -> Occasion:
        seconds = self._apart.pop(0)
        self._clock.move(seconds)
        if not self._apart:
            self._stop.set()
        if seconds:
            raise Transient("the ledger does not answer")
        return await super().ask(known, deadline_seconds, asked)


async def shown_after(*apart: float) -> list[float | None]:
    """Return what is shown after a ledger that answered is away for so many seconds at a time."""
    clock, stop = ManualClock(), asyncio.Event()
    async with in_a_backlog(clock, Endless(clock)) as dispatcher:
        await sweeper_of(dispatcher, GoesAway(clock, stop, apart)).run(stop)
    return [shown(f"aldebaran_deliverer_{each}") for each in STANDS]


def stands() -> list[float | None]:
    """Return what the ledger says."""
    return [getattr(STANDING, each) for each in STANDS]


async def test_what_was_counted_before_an_outage_is_not_shown_through_it() -> None:
    assert await shown_after() == stands()
    assert await shown_after(STALE_SECONDS, 600.0) == [None] * len(STANDS)
    assert await shown_after() == stands()


async def test_a_short_absence_hides_nothing() -> None:
    assert await shown_after(1.0, STALE_SECONDS / 2) == stands()
