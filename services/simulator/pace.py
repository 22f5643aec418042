"""The pace of an open loop: every message has its intended time, whatever the answers do."""

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pace:
    """Messages per second; infinity sends as fast as it goes."""

    rate: float

    def due(self, elapsed_seconds: float, sent: int) -> int:
        """Return how many messages should have been sent by now and were not; many if unpaced."""
        if math.isinf(self.rate):
            return 1_000_000
        return max(0, math.floor(elapsed_seconds * self.rate + 1e-9) + 1 - sent)

    def intended_seconds(self, number: int, elapsed_seconds: float) -> float:
        """Return when message `number` (the first is 0) should leave, from the run's start."""
        return elapsed_seconds if math.isinf(self.rate) else number / self.rate
