"""Times of the week, such as office hours, in the zone where people keep them.

Everything follows the clock on the wall: a night from 22:00 to 06:00 has nine hours when the
clock is put back.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

MINUTES_A_DAY: Final = 24 * 60
SEARCH_DAYS: Final = 15
"""Longer than two weeks, so that what recurs weekly is found even where a clock change hides it."""

_DAY: Final = timedelta(days=1)
_LAST: Final = datetime.max.replace(tzinfo=UTC) - 2 * _DAY
"""Later moments have no time in zones to the east: they count as this one."""


@dataclass(frozen=True, slots=True)
class WeekPart:
    """From one minute of some days (0 = Monday) to another; past midnight if it ends earlier."""

    days: frozenset[int]
    start_minute: int
    end_minute: int
    zone: ZoneInfo

    def contains(self, at: datetime) -> bool:
        """Tell whether this moment is inside; the first minute is, the last is not."""
        wall = min(at, _LAST).astimezone(self.zone)
        minute = wall.hour * 60 + wall.minute
        if self.start_minute < self.end_minute:
            return wall.weekday() in self.days and self.start_minute <= minute < self.end_minute
        began_today = wall.weekday() in self.days and minute >= self.start_minute
        return began_today or ((wall.weekday() - 1) % 7 in self.days and minute < self.end_minute)

    def edges(self, since: datetime, until: datetime) -> Iterator[datetime]:
        """Return all moments of a day or so at which `contains` may change, and maybe others."""
        day = (since - _DAY).astimezone(self.zone).date()
        while day <= (until + _DAY).astimezone(self.zone).date():
            for minute in (self.start_minute, self.end_minute):
                yield from _moments(day, minute, self.zone)
            day += _DAY
        yield from _clock_changes(self.zone, since, until)


@dataclass(frozen=True, slots=True)
class WeekTimes:
    """Named times of the week: inside any part, or outside of all where `inverse`."""

    name: str
    parts: tuple[WeekPart, ...]
    inverse: bool = False

    def contains(self, at: datetime) -> bool:
        """Tell whether a moment (with a zone) is inside."""
        return any(part.contains(at) for part in self.parts) != self.inverse

    def until_outside(self, at: datetime) -> datetime | None:
        """Return the first moment from `at` on that is outside, in UTC.

        None if there is none within `SEARCH_DAYS`: such times never end.
        """
        return self.first(at, inside=False)

    def until_inside(self, at: datetime) -> datetime | None:
        """Return the first moment from `at` on that is inside, in UTC; None if none comes soon."""
        return self.first(at, inside=True)

    def first(self, at: datetime, inside: bool) -> datetime | None:
        """Return the first moment from `at` on that is inside, or outside; None if none comes."""
        return _first(self, at.astimezone(UTC), inside)

    def edges(self, at: datetime) -> Iterator[datetime]:
        """Return the moments after `at`, in sequence and in UTC, at which something may change."""
        for number in range(SEARCH_DAYS):
            since, until = at + number * _DAY, at + (number + 1) * _DAY
            found = {edge for part in self.parts for edge in part.edges(since, until)}
            yield from sorted(edge for edge in found if since < edge <= until)

    def outside(self) -> "WeekTimes":
        """Return all other times."""
        return replace(self, inverse=not self.inverse)

    def __str__(self) -> str:
        return f"outside {self.name}" if self.inverse else self.name


@lru_cache(maxsize=64)
def _first(times: WeekTimes, at: datetime, inside: bool) -> datetime | None:
    """Kept, as all rows of a turn ask for one moment, and to search takes most of a judgement."""
    if times.contains(at) == inside:
        return at
    return next((edge for edge in times.edges(at) if times.contains(edge) == inside), None)


def _moments(day: date, minute: int, zone: ZoneInfo) -> Iterator[datetime]:
    """A time on the wall comes twice in the hour that a clock change repeats."""
    wall = datetime(day.year, day.month, day.day, tzinfo=zone) + timedelta(minutes=minute)
    yield wall.astimezone(UTC)
    yield wall.replace(fold=1).astimezone(UTC)


def _clock_changes(zone: ZoneInfo, since: datetime, until: datetime) -> Iterator[datetime]:
    """At most one change in such a span is looked for; zones change twice a year or so."""
    before = since.astimezone(zone).utcoffset()
    if before == until.astimezone(zone).utcoffset():
        return
    early, late = int(since.timestamp()), int(until.timestamp()) + 1
    while late - early > 1:
        middle = (early + late) // 2
        unchanged = datetime.fromtimestamp(middle, zone).utcoffset() == before
        early, late = (middle, late) if unchanged else (early, middle)
    yield datetime.fromtimestamp(late, UTC)
