"""Finds the one record that a query fails on, by halving what it has not yet committed."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, zip_longest
from typing import Final

from auditor.checkpoints.ranges import Range
from auditor.checkpoints.spared import Place

STEP_RECORDS: Final = 100_000
"""Records that one try reads at most."""
STEPS_MAX: Final = 50
"""Steps after which a search is put off: the watch would stand still for too long."""


Fails = Callable[[Range], bool]
"""Whether the query fails on these records alone."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a search found."""

    guilty: Range | None
    """Records that the query fails on without any others, as few as could be found."""
    unseen: tuple[Range, ...] = ()
    """What was not looked at where nothing was found; empty if no record fails alone."""
    found_good: tuple[Range, ...] = ()
    """What was looked at where nothing was found, by this search and those that it goes on from."""

    @property
    def place(self) -> Place | None:
        """Where the one record lies that is to blame, or None."""
        if self.guilty is None or len(self.guilty) > 1:
            return None
        return Place(self.guilty.topic, self.guilty.partition, self.guilty.first)

    @property
    def suspects(self) -> tuple[Range, ...]:
        """Among which records the cause is; each one was good alone where none is guilty."""
        return self.found_good if self.guilty is None else (self.guilty,)


def search(
    ranges: Sequence[Range], fails: Fails, has_time: Callable[[], bool] = lambda: True
) -> Verdict:
    """Look for the record that the query fails on alone, at first where the ranges begin.

    That takes at most `STEPS_MAX` steps, or one in each range if these are more; the first one is
    taken also where there is no time.
    """
    looked: list[Range] = []
    for step in islice(interleaved(ranges), max(STEPS_MAX, len(ranges))):
        if looked and not has_time():
            break
        looked.append(step)
        if fails(step):
            return Verdict(_narrow(step, fails))
    return Verdict(None, _unseen(ranges, looked))


def interleaved(ranges: Iterable[Range]) -> Iterator[Range]:
    """Yield the first step of each range, then the second of each, and so on.

    A batch reads all partitions at once from where the last one ended, so the record that it failed
    on is near the front of its partition.
    """
    turns = zip_longest(*(_steps(one) for one in ranges))
    return (step for turn in turns for step in turn if step is not None)


def good(ranges: Iterable[Range], unseen: Iterable[Range]) -> tuple[Range, ...]:
    """Return what of the ranges a search without a find has looked at."""
    begin = {one.lies_in: one.first for one in unseen}
    return tuple(replace(one, end=begin.get(one.lies_in, one.end)) for one in ranges)


def behind(ranges: Iterable[Range], found_good: Iterable[Range]) -> list[Range]:
    """Return what of the ranges lies behind what was found good; what lies before that counts.

    What was looked at least comes first, so that a search without much time comes to all of them.
    """
    known = {one.lies_in: one for one in found_good}
    left = [(one, _after(one, known.get(one.lies_in))) for one in ranges]
    left.sort(key=lambda each: each[1].first - each[0].first)
    return [rest for _, rest in left if len(rest)]


def _after(whole: Range, found_good: Range | None) -> Range:
    if found_good is None or not found_good.first <= whole.first <= found_good.end:
        return whole
    return replace(whole, first=found_good.end)


def _unseen(ranges: Iterable[Range], looked: Iterable[Range]) -> tuple[Range, ...]:
    end = {step.lies_in: step.end for step in looked}
    left = (replace(one, first=end.get(one.lies_in, one.first)) for one in ranges)
    return tuple(one for one in left if len(one))


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
