"""How fast a core of this machine is while something else is measured.

A virtual core shares its real one with others, ours or strangers'. Then the same instructions take
longer, although no time was taken from us: neither the load average nor stolen time shows it.
"""

import time
from statistics import median
from typing import Final

ROUNDS: Final = 8000


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
        return round(min(self._took_us), 1), round(median(self._took_us), 1)
