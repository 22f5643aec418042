"""Pieces of topics by time, read outside of any group: for people who look something up."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

from confluent_kafka import Consumer as Client
from confluent_kafka import KafkaException, Message, TopicPartition

from services.backbone.clock import Clock
from services.backbone.kafka.client import opened, trouble
from services.backbone.kafka.consumer import Incoming, incoming
from services.backbone.kafka.onlooker import POLL_SECONDS, is_end, onlooker_config
from services.backbone.kafka.sayings import Sayings
from services.backbone.settings import KafkaSettings


@dataclass(frozen=True, slots=True)
class Span:
    """From when to when, by the records' times, in milliseconds since 1970 (UTC)."""

    since_ms: int
    until_ms: int


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much is read at most of all pieces together, and for how long."""

    records: int = 50_000
    seconds: float = 2.0


@dataclass(frozen=True, slots=True)
class _Part:
    """What is to be read of one partition: from the first place to before the end."""

    topic: str
    partition: int
    first: int
    end: int


class Window:
    """Reads one piece after another, until the bounds are reached; a topic that does not exist has
    no records. Every method raises Transient or Refused while the brokers do not answer.
    """

    def __init__(
        self, settings: KafkaSettings, clock: Clock, topics: Sequence[str], bounds: Bounds
    ) -> None:
        self._clock = clock
        self._topics = topics
        self._bounds = bounds
        self._ends_at = clock.monotonic_seconds() + bounds.seconds
        self._client = opened(Client, onlooker_config(settings) | {"logger": Sayings()})
        self.looked_through = 0
        """How many records were read so far."""
        self.is_whole = True
        """Whether all pieces so far were read to their end."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def records(self, span: Span) -> Iterator[Incoming]:
        """Yield the records of a span; the newest of each partition where they are too many."""
        if not self.is_whole:
            return
        self.is_whole = False
        try:
            parts, is_all = _newest(self._parts(span), self._bounds.records - self.looked_through)
            waited = {(each.topic, each.partition): each.end for each in parts}
            self._client.assign([TopicPartition(p.topic, p.partition, p.first) for p in parts])
            while waited and self._clock.monotonic_seconds() < self._ends_at:
                message = self._client.poll(POLL_SECONDS)
                if message is not None and _is_inside(message, waited):
                    self.looked_through += 1
                    yield incoming(message)
            self.is_whole = is_all and not waited
        except KafkaException as error:
            raise trouble(error) from None

    def _parts(self, span: Span) -> list[_Part]:
        known = self._client.list_topics(timeout=self._bounds.seconds).topics
        places = [
            (topic, partition)
            for topic in self._topics
            if topic in known
            for partition in known[topic].partitions
        ]
        firsts, ends = self._at(places, span.since_ms), self._at(places, span.until_ms + 1)
        return [
            _Part(*place, firsts[place], ends[place])
            for place in places
            if firsts[place] < ends[place]
        ]

    def _at(self, places: Sequence[tuple[str, int]], at_ms: int) -> dict[tuple[str, int], int]:
        """Return where the first records stand that are not older, or the partitions' ends."""
        asked = [TopicPartition(topic, partition, at_ms) for topic, partition in places]
        seconds = self._bounds.seconds
        found = self._client.offsets_for_times(asked, timeout=seconds) if asked else []
        return {
            (each.topic, each.partition): each.offset
            if each.offset >= 0
            else self._client.get_watermark_offsets(each, timeout=seconds)[1]
            for each in found
        }


def _newest(parts: Sequence[_Part], limit: int) -> tuple[list[_Part], bool]:
    """Return what is to be read within a limit, and whether that is all."""
    if sum(each.end - each.first for each in parts) <= limit:
        return list(parts), True
    share = limit // len(parts)
    newest = [replace(each, first=max(each.first, each.end - share)) for each in parts]
    return [each for each in newest if each.first < each.end], False


def _is_inside(message: Message, waited: dict[tuple[str, int], int]) -> bool:
    """Tell whether a record is one of those waited for; take off partitions that are read."""
    place = message.topic() or "", message.partition() or 0
    if is_end(message):
        waited.pop(place, None)
        return False
    offset = message.offset() or 0
    is_inside = offset < waited.get(place, 0)
    if offset + 1 >= waited.get(place, 0):
        waited.pop(place, None)
    return is_inside
