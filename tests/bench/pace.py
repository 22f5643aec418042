"""How fast a core of this machine is while something else is measured.

A virtual core shares its real one with others, ours or strangers'. Then the same instructions take
longer, although no time was taken from us: neither the load average nor stolen time shows it.
"""

import time
from collections import defaultdict
from collections.abc import Iterable
from statistics import median, quantiles
from typing import Final

ROUNDS: Final = 8000
FULL_SPEED: Final = 1.2
"""A second is one of full speed if the work took at most so many times what it takes at best."""

WORK_MEANS: Final = (
    "A core's speed: what a fixed piece of work took at its best, and in the median, in µs; "
    "where the median is half as long again, others were at work on the real cores."
)
"""What a report says of `Pace.work_us`."""

Look = tuple[int, float]
"""When the work was done, in nanoseconds of the monotonic clock, and what it took, in us."""


class Pace:
    """Times a fixed piece of work."""

    def __init__(self) -> None:
        self._looks: list[Look] = []

    def look(self) -> None:
        """Do the piece once."""
        before = time.thread_time_ns()
        sum(range(ROUNDS))
        self._looks.append((time.monotonic_ns(), (time.thread_time_ns() - before) / 1000))

    def work_us(self) -> tuple[float, float]:
        """Return the piece's processor time, in microseconds: at its best, and in the median."""
        return round(at_best(self._looks), 1), round(median(took for _, took in self._looks), 1)

    def full_speed_seconds(self) -> frozenset[int]:
        """Return the whole seconds of the monotonic clock in which cores ran at full speed."""
        return full_speed_seconds(self._looks)


def at_best(looks: Iterable[Look]) -> float:
    """Return what only one look in twenty is below: a single one may have been lucky."""
    return quantiles((took for _, took in looks), n=20, method="inclusive")[0]


def full_speed_seconds(looks: Iterable[Look]) -> frozenset[int]:
    """Return the whole seconds whose median look took hardly longer than the best ones."""
    every = tuple(looks)
    limit_us, seconds = FULL_SPEED * at_best(every), defaultdict(list)
    for at_ns, took_us in every:
        seconds[at_ns // 1_000_000_000].append(took_us)
    return frozenset(second for second, took in seconds.items() if median(took) <= limit_us)
