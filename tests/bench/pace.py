"""How fast a core of this machine is while something else is measured.

A virtual core shares its real one with others, ours or strangers'. Then the same instructions take
longer, although no time was taken from us: neither the load average nor stolen time shows it.
"""

import threading
import time
from statistics import median
from types import TracebackType
from typing import Final, Self

ROUNDS: Final = 8000
EVERY_SECONDS: Final = 0.1


class Pace:
    """Times a fixed piece of work again and again while it is entered."""

    def __init__(self) -> None:
        self._took_us: list[float] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        """Begin to time."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop timing."""
        self._stop.set()
        self._thread.join()

    def work_us(self) -> tuple[float, float]:
        """Return the piece's processor time, in microseconds: at its best, and in the median."""
        return round(min(self._took_us), 1), round(median(self._took_us), 1)

    def _watch(self) -> None:
        while not self._stop.wait(EVERY_SECONDS):
            before = time.thread_time_ns()
            sum(range(ROUNDS))
            self._took_us.append((time.thread_time_ns() - before) / 1000)
