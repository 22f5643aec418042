"""Decides how often, and after what waits, a failed query is tried again."""

import random
from collections import deque
from dataclasses import dataclass, field

from services.backbone.backoff import Backoff


@dataclass(frozen=True, slots=True)
class RestartLimit:
    """How many failures are taken within a span before the program gives up."""

    failures_max: int
    window_seconds: float
    backoff: Backoff = field(default_factory=lambda: Backoff(first_seconds=1.0, limit_seconds=60.0))


class Failures:
    """Remembers failures and decides about the next try."""

    def __init__(self, limit: RestartLimit, rng: random.Random) -> None:
        self._limit = limit
        self._rng = rng
        self._at_seconds: deque[float] = deque(maxlen=limit.failures_max + 1)

    @property
    def longest_wait_seconds(self) -> float:
        """The wait between tries once there were too many."""
        return self._limit.backoff.limit_seconds

    def next_wait_seconds(self, now_seconds: float) -> float | None:
        """Add a failure; return how long to wait before the next try, or None to give up."""
        self._at_seconds.append(now_seconds)
        since = now_seconds - self._limit.window_seconds
        recent = sum(1 for at in self._at_seconds if at > since)
        if recent > self._limit.failures_max:
            return None
        return self._limit.backoff.seconds(recent, self._rng)
