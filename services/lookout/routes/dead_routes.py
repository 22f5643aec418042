"""Routes that no alert can ever meet, whatever watches there are."""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from itertools import chain
from typing import Final

from services.contracts.records import Severity
from services.lookout.matching import Match, apart
from services.lookout.routes.declared import Declared
from services.lookout.routes.match_part import MatchPart
from services.lookout.routes.parts import FilePart
from services.lookout.routes.problems import Finding
from services.lookout.routes.tree import Spot, spots
from services.lookout.week_times import WeekTimes

MOMENTS_LIMIT: Final = 20_000
"""Moments that one look at a file holds against its times, about a second's work."""


def dead_routes(part: FilePart, known: Declared, now: datetime) -> Iterator[Finding]:
    """Return what never matches."""
    ever = Ever(now)
    for spot in spots(part.routes):
        if why := _contradiction(spot, known, ever):
            yield spot.place, f"route {spot.part.name!r} never matches: {why}"


class Ever:
    """Tells of times whether a moment comes that is inside of all of them, as far as it is cheap.

    Times begin only at their edges, so one of these moments, or now, is inside of all if any is.
    A lookout asks before it takes its first alert: what would take seconds counts as sure to come.
    """

    def __init__(self, now: datetime, moments_limit: int = MOMENTS_LIMIT) -> None:
        self._now = now
        self._left = moments_limit
        self._known: dict[frozenset[WeekTimes], bool] = {}

    def comes(self, times: frozenset[WeekTimes]) -> bool:
        """Return whether it comes; once all moments were looked at, it is taken to."""
        if times not in self._known:
            self._known[times] = self._look(times)
        return self._known[times]

    def _look(self, times: Collection[WeekTimes]) -> bool:
        edges = (edge for each in times for edge in each.edges(self._now))
        for at in chain([self._now], edges):
            if self._left <= 0 or all(each.contains(at) for each in times):
                return True
            self._left -= 1
        return False


def _contradiction(spot: Spot, known: Declared, ever: Ever) -> str | None:
    line = [each.match for each in (*spot.above, spot.part)]
    *above, own = [each.match(known.times) for each in line]
    if not _severities(above) & _severities([own]):
        return "the routes around it take other severities"
    if any(apart(each.watch, own.watch) for each in above):
        return "the routes around it take other watches"
    for outer in above:
        wanted = dict(outer.labels)
        for name, patterns in own.labels:
            if apart(wanted.get(name), patterns):
                return f"the routes around it take other values of label {name}"
    times = frozenset(each for match in (*above, own) for each in match.times)
    return None if ever.comes(times) else f"it is never {_all(line)} at once"


def _severities(line: Sequence[Match]) -> frozenset[Severity]:
    taken = frozenset(Severity)
    for match in line:
        taken &= frozenset(Severity) if match.severity is None else match.severity
    return taken


def _all(line: Sequence[MatchPart]) -> str:
    inside = [name for match in line for name in match.during]
    outside = [f"outside {name}" for match in line for name in match.outside]
    return " and ".join(dict.fromkeys((*inside, *outside)))
