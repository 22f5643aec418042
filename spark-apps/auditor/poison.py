"""Finds the one record that a query fails on, by halving what it has not yet committed."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from auditor.spared import Place

STEP_RECORDS: Final = 100_000
"""Records that one try reads at most."""
STEPS_MAX: Final = 50
"""Steps after which the search is given up: the watch would stand still for too long."""


@dataclass(frozen=True, slots=True)
class Range:
    """Records of one partition, from `first` up to but without `end`."""

    topic: str
    partition: int
    first: int
    end: int

    def __len__(self) -> int:
        return max(0, self.end - self.first)


Fails = Callable[[Range], bool]
"""Whether the query fails on these records alone."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a search found."""

    guilty: Range | None
    """Records that the query fails on without any others, as few as could be found."""

    @property
    def place(self) -> Place | None:
        """Where the one record lies that is to blame, or None."""
        if self.guilty is None or len(self.guilty) > 1:
            return None
        return Place(self.guilty.topic, self.guilty.partition, self.guilty.first)


def search(ranges: Iterable[Range], fails: Fails) -> Verdict:
    """Look for the record that the query fails on alone, in at most `STEPS_MAX` steps."""
    steps = islice((step for one in ranges for step in _steps(one)), STEPS_MAX)
    guilty = next((step for step in steps if fails(step)), None)
    return Verdict(None if guilty is None else _narrow(guilty, fails))


def _steps(whole: Range) -> Iterator[Range]:
    for first in range(whole.first, whole.end, STEP_RECORDS):
        yield replace(whole, first=first, end=min(whole.end, first + STEP_RECORDS))


def _narrow(guilty: Range, fails: Fails) -> Range:
    while len(guilty) > 1:
        middle = (guilty.first + guilty.end) // 2
        halves = replace(guilty, end=middle), replace(guilty, first=middle)
        found = next((half for half in halves if fails(half)), None)
        if found is None:
            break
        guilty = found
    return guilty
