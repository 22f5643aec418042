"""What reads topics for one trace, and tells when it has come to the trace's end."""

from collections.abc import Callable, Sequence
from typing import Final, Protocol

from services.backbone.kafka.consumer import Incoming
from services.backbone.kafka.trail import Followed, Places, Trail
from services.backbone.settings import KafkaSettings
from services.console.tracing.store import Trace
from services.contracts.topics import ACCOUNTS, ALERTS, rejected

TOPICS_SECONDS: Final = 30.0
"""What was accepted in time may be found, and accounted for, so long after the end."""

TOPICS_NOTE: Final = "traces"
"""The note of the console's health that says why topics cannot be read now."""


class Reading(Protocol):
    """What reads topics for one trace."""

    @property
    def streams(self) -> Sequence[str]:
        """The streams whose topics are read."""

    @property
    def places(self) -> Places:
        """Where to go on."""

    def read(self, limit: int, seconds: float) -> tuple[int, list[Incoming]]:
        """Return how many records were read, and those of the key."""

    def places_at(self, at_ms: int) -> Places:
        """Return where the records since a time begin, or the ends where there are none."""

    def close(self) -> None:
        """End reading."""


OpenReading = Callable[[Trace], Reading]


class TopicReading(Trail):
    """The records of one trace's topics, from its begin on.

    Raises:
        Transient, Refused: from every method, while the brokers do not answer as they should.
    """

    def __init__(self, settings: KafkaSettings, trace: Trace, streams: Sequence[str]) -> None:
        whole = (ALERTS, ACCOUNTS, *map(rejected, streams))
        followed = Followed(trace.key.encode(), streams, whole)
        super().__init__(settings, followed, trace.begun_at_ms, trace.places)
        self._settings = settings
        self.streams = streams

    def places_at(self, at_ms: int) -> Places:
        """Return where a trail that begins at that time would begin."""
        other = Trail(self._settings, self._followed, at_ms, {})
        try:
            return other.places
        finally:
            other.close()


def over_at_ms(trace: Trace) -> int:
    """Return when nothing more can come on the topics that belongs to a trace."""
    return trace.ends_at_ms + int(TOPICS_SECONDS * 1000)


def is_in(trace: Trace, each: Incoming) -> bool:
    """Tell whether a record came while the trace was on, or follows from one that did."""
    ends = over_at_ms(trace) if each.topic in (ALERTS, ACCOUNTS) else trace.ends_at_ms
    return trace.begun_at_ms <= each.timestamp_ms < ends


def is_read(places: Places, ends: Places) -> bool:
    """Tell whether all has been read up to these ends; a place that is not read is at nought."""
    return all(places.get(place, 0) >= end for place, end in ends.items())
