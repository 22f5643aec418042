"""How long to wait before the next try."""

import random
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Backoff:
    """Exponential waiting with full jitter (AWS Architecture Blog, 2015), up to a limit.

    The jitter spreads over the upper half only, so that a wait is never close to nothing.
    """

    first_seconds: float = 0.1
    factor: float = 2.0
    limit_seconds: float = 30.0

    def seconds(self, attempt: int, rng: random.Random) -> float:
        """Return the wait after failed try number `attempt` (the first is 1)."""
        exponent = min(attempt - 1, 64)
        whole = min(self.limit_seconds, self.first_seconds * self.factor**exponent)
        return whole * (0.5 + rng.random() / 2)
