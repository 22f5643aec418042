"""How far an engine was in a marked topic at any time, and the rate while all partitions ran.

Partitions are rarely drained evenly: from the middle of the slowest to the end of the fastest all
of them are at work, and only that time says what the engine can do.
"""

import threading
import time
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

SAMPLE_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Headway:
    """When each partition reached each row of markers, in nanoseconds; rows are equally far apart.

    `row_events` is how many events lie between two rows, in all partitions together.
    """

    reached_ns: Sequence[Sequence[int]]
    row_events: float

    def span_ns(self, first_row: int) -> tuple[int, int]:
        """Return from when all were behind this row until the first one had reached the last row.

        Where one was done before another got so far, it lasts until the last one was done.
        """
        begun = max(rows[first_row] for rows in self.reached_ns)
        ends = [rows[-1] for rows in self.reached_ns]
        return begun, min(ends) if min(ends) > begun else max(ends)

    def events_by(self, at_ns: float) -> float:
        """Return how many events were done by then, evenly between two rows."""
        rows = sum(between(each, at_ns) for each in self.reached_ns)
        return rows * self.row_events / len(self.reached_ns)

    def rate(self, begun_ns: int, ended_ns: int) -> float:
        """Return events per second between two moments."""
        done = self.events_by(ended_ns) - self.events_by(begun_ns)
        return done / (ended_ns - begun_ns) * 1e9


def between(steps: Sequence[float], at: float) -> float:
    """Return the index at which a rising sequence has this value, with its fraction."""
    if at <= steps[0]:
        return 0.0
    below = bisect_right(steps, at) - 1
    if below >= len(steps) - 1:
        return len(steps) - 1.0
    return below + (at - steps[below]) / (steps[below + 1] - steps[below])


class Spending:
    """Follows what several components have used, on a thread of its own."""

    def __init__(self, spent: Callable[[], Sequence[float]]) -> None:
        self._spent = spent
        self._at_ns: list[float] = []
        self._seen: list[Sequence[float]] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)

    def __enter__(self) -> "Spending":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def between(self, begun_ns: int, ended_ns: int) -> list[float]:
        """Return what each component used between two moments."""
        marks = [between(self._at_ns, at) for at in (begun_ns, ended_ns)]
        before, after = (_at(self._seen, mark) for mark in marks)
        return [late - early for early, late in zip(before, after, strict=True)]

    def _follow(self) -> None:
        while not self._stop.wait(SAMPLE_SECONDS):
            seen = self._spent()
            self._at_ns.append(time.monotonic_ns())
            self._seen.append(seen)


def _at(seen: Sequence[Sequence[float]], mark: float) -> list[float]:
    last = len(seen) - 1
    early, late = seen[min(int(mark), last)], seen[min(int(mark) + 1, last)]
    return [one + mark % 1 * (two - one) for one, two in zip(early, late, strict=True)]
