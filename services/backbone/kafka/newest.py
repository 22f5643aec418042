"""The newest records of one topic, the newest first, read outside of any group."""

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Self

from confluent_kafka import Consumer as Client
from confluent_kafka import KafkaError, KafkaException, TopicPartition

from services.backbone.clock import Clock
from services.backbone.errors import Transient
from services.backbone.kafka.client import opened, trouble
from services.backbone.kafka.consumer import Incoming, incoming
from services.backbone.kafka.onlooker import POLL_SECONDS, is_end, onlooker_config
from services.backbone.kafka.sayings import Sayings
from services.backbone.settings import KafkaSettings

FIRST_PIECE_RECORDS: Final = 4
"""What is read first; each piece before it is twice as long, as the newest is what people want."""
FROM_THE_END: Final[Mapping[int, int]] = MappingProxyType({})
"""No partition has an offset before which reading begins."""
_READING: Final = {
    # A place that retention has deleted meanwhile: what is left is read.
    "auto.offset.reset": "earliest",
    # Behind each piece stands what was read before it: little of that is to be fetched again.
    "queued.max.messages.kbytes": 1024,
}
_NONE: Final = frozenset({KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError.TOPIC_EXCEPTION})
"""What the brokers answer to a name that no topic has, or may have."""


class NoSuchTopic(LookupError):
    """The brokers have no topic of this name."""


@dataclass(frozen=True, slots=True)
class Room:
    """How much is read at most, of all partitions together, and for how long."""

    records: int = 5000
    size_bytes: int = 32 * 1024 * 1024
    seconds: float = 3.0


class Newest:
    """Reads one topic backwards, piece by piece, until the caller has enough or the room is used.

    It begins at the end, or before an offset of each partition in `before`.

    Every method raises Transient or Refused while the brokers do not answer as they should.
    """

    def __init__(
        self,
        settings: KafkaSettings,
        clock: Clock,
        topic: str,
        room: Room,
        before: Mapping[int, int] = FROM_THE_END,
    ) -> None:
        self._clock = clock
        self._topic = topic
        self._room = room
        self._before = before
        self._ends_at = clock.monotonic_seconds() + room.seconds
        self._client = opened(Client, onlooker_config(settings) | _READING | {"logger": Sayings()})
        self._read_bytes = 0
        self._largest_bytes = 1
        self.looked_through = 0
        """How many records were read so far."""
        self.is_whole = True
        """Whether nothing was left out so far because the room was used."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def records(self) -> Iterator[Incoming]:
        """Yield records, the newest first; those of several partitions by their times.

        Raises:
            NoSuchTopic: there is none of this name.
        """
        try:
            parts = [self._backwards(each) for each in self._partitions()]
            yield from heapq.merge(*parts, key=lambda each: each.timestamp_ms, reverse=True)
        except KafkaException as error:
            raise trouble(error) from None

    def _partitions(self) -> list[int]:
        told = self._client.list_topics(self._topic, timeout=self._left_seconds())
        found = told.topics[self._topic]
        if found.error is not None and found.error.code() in _NONE:
            raise NoSuchTopic(f"the brokers have no topic {self._topic}")
        if found.error is not None:
            raise trouble(found.error)
        return sorted(found.partitions)

    def _backwards(self, partition: int) -> Iterator[Incoming]:
        place = TopicPartition(self._topic, partition)
        known = self._client.get_watermark_offsets(place, timeout=self._left_seconds())
        if known is None:
            raise Transient(f"Kafka: the end of {self._topic} is not known")
        (low, end), records = known, FIRST_PIECE_RECORDS
        end = min(end, self._before.get(partition, end))
        while end > low:
            first = max(low, end - self._affordable(records))
            piece = self._piece(partition, first, end)
            if piece is None:
                self.is_whole = False
                return
            yield from reversed(piece)
            end, records = first, 2 * records

    def _affordable(self, records: int) -> int:
        """Return how many records the rest of the room is thought to hold, one at least."""
        left_bytes = self._room.size_bytes - self._read_bytes
        left = self._room.records - self.looked_through
        return max(1, min(records, left, left_bytes // self._largest_bytes))

    def _piece(self, partition: int, first: int, end: int) -> list[Incoming] | None:
        """Return the records from the first offset to before the end; None, and nothing of them,
        where the room is used before: what was read of them is not their newest.
        """
        self._client.assign([TopicPartition(self._topic, partition, first)])
        read: list[Incoming] = []
        while not self._is_used():
            message = self._client.poll(POLL_SECONDS)
            if message is None:
                continue
            if is_end(message):
                return read
            found = incoming(message)
            if found.offset < end:
                read.append(found)
                self._count(found)
            if found.offset + 1 >= end:
                return read
        self.looked_through -= len(read)
        return None

    def _count(self, found: Incoming) -> None:
        size_bytes = len(found.value)
        self.looked_through += 1
        self._read_bytes += size_bytes
        self._largest_bytes = max(self._largest_bytes, size_bytes)

    def _is_used(self) -> bool:
        return (
            self.looked_through >= self._room.records
            or self._read_bytes >= self._room.size_bytes
            or self._clock.monotonic_seconds() >= self._ends_at
        )

    def _left_seconds(self) -> float:
        return max(POLL_SECONDS, self._ends_at - self._clock.monotonic_seconds())
