"""Reads one topic for the accountant, and sees that what is there comes."""

from services.backbone.clock import Clock
from services.backbone.kafka.consumer import Consumer, Incoming
from services.backbone.reading import LIMIT_SECONDS, Reading


class Reader:
    """A consumer that goes on with a new client where records wait and do not come."""

    def __init__(
        self, consumer: Consumer, clock: Clock, limit_seconds: float = LIMIT_SECONDS
    ) -> None:
        self.consumer = consumer
        self._limit_seconds = limit_seconds
        self._reading = Reading(clock, limit_seconds)

    def batch(self, limit: int, timeout_seconds: float) -> list[Incoming]:
        """Return what is there, as a consumer does; raises what it raises."""
        batch = self.consumer.batch(limit, timeout_seconds)
        self._reading.turn(self.consumer)
        return batch

    def idle(self, timeout_seconds: float) -> None:
        """Take nothing for a moment; what waits meanwhile waits rightly."""
        self.consumer.idle(timeout_seconds)
        self._reading.turn(self.consumer)

    def trouble(self) -> str | None:
        """Say why it does not read although it asks, or None."""
        asks = self.consumer.asking_seconds() > self._limit_seconds
        return self._reading.trouble() if asks or not self.consumer.is_member() else None
