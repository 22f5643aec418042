"""Reads what comes from now on, and sees that it comes."""

from services.backbone.clock import Clock
from services.backbone.errors import Trouble
from services.backbone.kafka.consumer import Consumer, Incoming
from services.backbone.kafka.settled import Ends
from services.backbone.reading import ASK_TIMEOUT_SECONDS, LIMIT_SECONDS, STARVED_TIMES, Reading


class Hearing:
    """A consumer that goes on with a new client where nothing comes of what is there.

    Of a partition of which a member has read nothing yet the brokers hold what is from before its
    time. So `Reading` says nothing of it, and here counts what has come since.
    """

    def __init__(
        self, consumer: Consumer, clock: Clock, limit_seconds: float = LIMIT_SECONDS
    ) -> None:
        self.consumer = consumer
        self._clock = clock
        self._limit_seconds = limit_seconds
        self._reading = Reading(clock, limit_seconds)
        self._looked = clock.monotonic_seconds()
        self._times_assigned = 0
        self._ends: Ends | None = None
        """As they were some seconds after the partitions were given to it."""
        self._misses_from: float | None = None

    def batch(self, limit: int, timeout_seconds: float) -> list[Incoming]:
        """Return what is there, as a consumer does; raises what it raises."""
        batch = self.consumer.batch(limit, timeout_seconds)
        self._reading.turn(self.consumer)
        now = self._clock.monotonic_seconds()
        if now - self._looked >= self._limit_seconds / 3:
            self._looked = now
            self._look(now)
        return batch

    def trouble(self) -> str | None:
        """Say why it does not read, or None; may be asked from other threads."""
        return self._missing(self._limit_seconds) or self._reading.trouble()

    def _look(self, now: float) -> None:
        if not self._misses():
            self._misses_from = None
        elif self._misses_from is None:
            self._misses_from = now
        if why := self._missing(STARVED_TIMES * self._limit_seconds):
            self._misses_from = None
            self.consumer.begin_anew(why)

    def _missing(self, limit_seconds: float) -> str | None:
        since = self._misses_from
        missed = 0.0 if since is None else self._clock.monotonic_seconds() - since
        return f"reads nothing of what came {missed:.0f} s ago" if missed > limit_seconds else None

    def _misses(self) -> bool:
        """Tell whether records have come to a partition of which it has read none yet.

        What comes in the first moment may come before it knows where to begin.
        """
        if (times := self.consumer.times_assigned()) != self._times_assigned:
            self._times_assigned, self._ends = times, None
            return False
        unread = [place for place, at in self.consumer.positions().items() if at < 0]
        try:
            ends = self.consumer.ends(ASK_TIMEOUT_SECONDS) if unread else {}
        except Trouble:
            return False
        if self._ends is None and unread:
            self._ends = ends
        before = self._ends or {}
        return any(ends.get(place, 0) > before.get(place, 0) for place in unread)
