"""How fast a core of this machine is while something else is measured.

A virtual core shares its real one with others, ours or strangers', and wakes up cold. Then the same
instructions take longer, although no time was taken from us: neither the load average nor stolen
time shows it.
"""

import time
from collections.abc import Iterable
from statistics import median, quantiles
from typing import Final

ROUNDS: Final = 8000

WORK_MEANS: Final = (
    "A core's speed: what a fixed piece of work took at its best, and in the median, in µs; "
    "where the median is half as long again, others were at work on the real cores, or ours had "
    "slept until just before."
)
"""What a report says of `Pace.work_us`."""


class Pace:
    """Times a fixed piece of work."""

    def __init__(self) -> None:
        self._took_us: list[float] = []

    def look(self) -> None:
        """Do the piece once."""
        before = time.thread_time_ns()
        sum(range(ROUNDS))
        self._took_us.append((time.thread_time_ns() - before) / 1000)

    def work_us(self) -> tuple[float, float]:
        """Return the piece's processor time, in microseconds: at its best, and in the median."""
        return round(at_best(self._took_us), 1), round(median(self._took_us), 1)


def at_best(took_us: Iterable[float]) -> float:
    """Return what only one look in twenty is below: a single one may have been lucky."""
    return quantiles(took_us, n=20, method="inclusive")[0]
