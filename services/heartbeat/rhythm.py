"""When each watch's next beat is due: evenly spread over the interval, never in a burst."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass
class Rhythm:
    """Due times of every watch's beats, on a monotonic clock."""

    watches: Sequence[str]
    interval_seconds: float
    start_seconds: float

    def __post_init__(self) -> None:
        step = self.interval_seconds / max(1, len(self.watches))
        self._due = {
            watch: self.start_seconds + number * step for number, watch in enumerate(self.watches)
        }

    def due(self, now: float) -> list[str]:
        """Return the watches whose beat is due; beats that a pause has swallowed are left out."""
        found = [watch for watch, at in self._due.items() if at <= now]
        for watch in found:
            passed = math.floor((now - self._due[watch]) / self.interval_seconds) + 1
            self._due[watch] += passed * self.interval_seconds
        return found

    def wait_seconds(self, now: float) -> float:
        """Return how long until the next beat is due; without a watch, one interval."""
        return max(0.0, min(self._due.values(), default=now + self.interval_seconds) - now)
