"""Tells whether a loop still turns, while the machine is awake."""

from services.backbone.clock import Clock


class Progress:
    """Remembers the last turn of a loop; the loop beats, health checks ask."""

    def __init__(self, clock: Clock, limit_seconds: float) -> None:
        self._clock = clock
        self._limit_seconds = limit_seconds
        self._last_seconds = clock.awake_seconds()

    def beat(self) -> None:
        """Note one turn."""
        self._last_seconds = self._clock.awake_seconds()

    def stalled(self) -> str | None:
        """Say since when the loop stands still, or None while it turns."""
        age = self._clock.awake_seconds() - self._last_seconds
        return f"no turn for {age:.0f} s" if age > self._limit_seconds else None
