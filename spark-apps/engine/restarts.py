"""Decides how often, and after what waits, a failed query is tried again."""

import random
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from services.backbone.backoff import Backoff

CAUSES_MAX: Final = 16
_QUERY: Final = "=== Streaming Query ==="
"""What begins the part of a message that shows the query, with its plan."""


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


def first_line(error: Exception | None) -> str:
    """Return the part of an error that fits into a log line."""
    java = getattr(error, "java_exception", None)
    text = str(error) if java is None else str(java.toString())
    return text.strip().split("\n")[0][:500] if error else "ended without an error"


def whole_text(error: Exception | None) -> str:
    """Return an error's text with those of all its causes, as far as Java and PySpark tell them.

    Without the plan of the query that ended: what its SQL quotes is nothing that happened.
    """
    causes = list(islice(_causes(error), CAUSES_MAX)) or [str(error)]
    return "\n".join(text.split(_QUERY, 1)[0] for text in causes)


def _causes(error: Any) -> Iterator[str]:
    while error is not None:
        yield str(error)
        yield from _java_causes(getattr(error, "_origin", None))
        yield from _java_causes(getattr(error, "java_exception", None))
        error = getattr(error, "_cause", None)


def _java_causes(raised: Any) -> Iterator[str]:
    while raised is not None:
        yield str(raised.toString())
        raised = raised.getCause()
