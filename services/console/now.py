"""How everything stands at one moment, as one value, and the few points that are drawn."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Final

from services.backbone.ledger.answers.overview import ChannelState, Overview
from services.backbone.ledger.rows import AlertRow
from services.console.lagging import Lags
from services.console.parts.figures import Figures
from services.console.parts.looking import Look
from services.contracts.states import State

POINTS_LIMIT: Final = 150


@dataclass(frozen=True, slots=True)
class Point:
    """One moment of the drawn lines; None where nothing was measured."""

    events_per_second: float | None


@dataclass(frozen=True)
class Now:
    """How everything stands; `overview` is None while the ledger does not answer."""

    at_ms: int
    overview: Overview | None
    alerts: tuple[AlertRow, ...] = ()
    looks: tuple[Look, ...] = ()
    figures: Figures | None = None
    points: tuple[Point, ...] = field(default=())
    lags: Lags = field(default_factory=Lags)

    @property
    def not_ready(self) -> tuple[Look, ...]:
        """The programs that are not ready."""
        return tuple(look for look in self.looks if not look.ready)


@dataclass(frozen=True, slots=True)
class Cell:
    """How many deliveries, and the age of the oldest in ms (0: nothing waits); there may be more
    where `at_least` is set.
    """

    count: int = 0
    oldest_ms: int = 0
    at_least: bool = False


@dataclass(frozen=True, slots=True)
class ChannelLine:
    """One channel's row of the table; a figure is None where no deliverer of it tells it."""

    channel: str
    cells: dict[str, Cell]
    overdue_seconds: float | None
    breakers_open: int | None

    @property
    def is_heard(self) -> bool:
        """Whether a deliverer of the channel answers."""
        return self.overdue_seconds is not None or self.breakers_open is not None


COLUMNS: Final = {
    "waiting": (State.PENDING, State.CLAIMED),
    "retry": (State.RETRY_WAIT,),
    "suppressed": (State.SUPPRESSED,),
    "in doubt": (State.IN_DOUBT,),
    "held": (State.HELD,),
    "sent": (State.SENT,),
    "confirmed": (State.CONFIRMED,),
    "failed": (State.FAILED,),
}
"""The columns of the table of channels, and which states each counts."""


def channel_lines(now: Now, channels: Iterable[str] = ()) -> list[ChannelLine]:
    """Return a row for each channel that is known or has deliveries."""
    states = now.overview.channels if now.overview else []
    cut = frozenset(now.overview.at_least.channels if now.overview else ())
    overdue = now.figures.overdue if now.figures else {}
    breakers = now.figures.breakers if now.figures else {}
    names = {*channels, *(each.channel for each in states), *overdue, *breakers}
    return [
        ChannelLine(
            channel=name,
            cells={
                column: _cell([each for each in states if each.channel == name], wanted, cut)
                for column, wanted in COLUMNS.items()
            },
            overdue_seconds=overdue.get(name),
            breakers_open=int(breakers[name]) if name in breakers else None,
        )
        for name in sorted(names)
    ]


def _cell(
    states: Iterable[ChannelState], wanted: Collection[State], cut: Collection[State]
) -> Cell:
    own = [each for each in states if each.state in wanted]
    return Cell(
        count=sum(each.count for each in own),
        oldest_ms=max((each.oldest_ms for each in own), default=0),
        at_least=any(state in cut for state in wanted),
    )


def point(figures: Figures) -> Point:
    """Return what is drawn of a moment."""
    return Point(figures.events_per_second)
