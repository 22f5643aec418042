"""What a deliverer shows of its channel, and for how long while the ledger is away."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

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
HIDDEN = ("due", "overdue_seconds")
"""What grows unseen; no row leaves doubt, or is decided about, while the ledger is away."""


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


async def hidden_after(*apart: float) -> tuple[str, ...]:
    """Return what is missing after a ledger that answered is away so many seconds at a time."""
    clock, stop = ManualClock(), asyncio.Event()
    async with in_a_backlog(clock, Endless(clock)) as dispatcher:
        await sweeper_of(dispatcher, GoesAway(clock, stop, apart)).run(stop)
    return hidden()


def hidden() -> tuple[str, ...]:
    """Return what is missing; the rest has to be what the ledger said."""
    found = {each: shown(f"aldebaran_deliverer_{each}") for each in STANDS}
    assert all(found[each] in (None, getattr(STANDING, each)) for each in STANDS)
    return tuple(each for each in STANDS if found[each] is None)


async def test_of_what_was_counted_before_an_outage_only_what_stays_true_is_shown() -> None:
    assert await hidden_after() == ()
    assert await hidden_after(STALE_SECONDS, 600.0) == HIDDEN
    assert await hidden_after() == ()


async def test_a_short_absence_hides_nothing() -> None:
    assert await hidden_after(1.0, STALE_SECONDS / 2) == ()


@pytest.mark.parametrize(("turns", "missing"), [(1.5, ()), (2.5, HIDDEN)])
async def test_one_failed_turn_of_a_sweep_that_is_seldom_hides_nothing(
    turns: float, missing: tuple[str, ...]
) -> None:
    clock, stop = ManualClock(), asyncio.Event()
    interval_seconds = 2 * STALE_SECONDS
    async with in_a_backlog(clock, Endless(clock)) as dispatcher:
        ledger = GoesAway(clock, stop, [turns * interval_seconds])
        sweeper = replace(sweeper_of(dispatcher, ledger), interval_seconds=interval_seconds)
        sweeper.turned_at = clock.monotonic_seconds()
        await sweeper.sweep()
        await sweeper.run(stop)
    assert hidden() == missing
