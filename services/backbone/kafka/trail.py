"""The records of one key, followed from a time on, outside of any group.

Whoever follows keeps the places beside what was read, and goes on there after a restart.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from confluent_kafka import OFFSET_END, KafkaException, TopicPartition
from confluent_kafka import Consumer as Client
from confluent_kafka import Message as ClientMessage

from services.backbone.errors import Transient
from services.backbone.kafka.client import Config, opened, trouble
from services.backbone.kafka.consumer import Incoming, incoming
from services.backbone.kafka.known_brokers import KnownBrokers
from services.backbone.kafka.onlooker import onlooker_config
from services.backbone.kafka.partitions import partitions_of
from services.backbone.kafka.sayings import Sayings
from services.backbone.settings import KafkaSettings

ASK_SECONDS: Final = 5.0
GROUP: Final = "trail"
"""As `onlooker.GROUP`: joined by nobody, and asked for."""

Places = Mapping[str, int]
"""The next offset of each partition, by `<topic>/<partition>`."""


@dataclass(frozen=True, slots=True)
class Followed:
    """What is read: of topics that are keyed by it the key's records, of others all."""

    key: bytes
    keyed: Sequence[str]
    whole: Sequence[str]


class Trail:
    """Reads on and on; use from one thread only.

    Raises:
        Transient, Refused: from every method, while the brokers do not answer as they should.
    """

    def __init__(
        self, settings: KafkaSettings, followed: Followed, since_ms: int, places: Places
    ) -> None:
        self._followed = followed
        self._keyed = frozenset(followed.keyed)
        self._brokers = KnownBrokers()
        hear = self._brokers.config() | {"logger": Sayings()}
        self._client = opened(Client, _config(settings) | hear)
        try:
            begun = self._begun(since_ms, places)
            self._client.assign(begun)
        except KafkaException as error:
            self._client.close()
            raise trouble(error) from None
        except Transient:
            self._client.close()
            raise
        self._places = {_place(each.topic, each.partition): each.offset for each in begun}

    @property
    def places(self) -> Places:
        """Where to go on after everything that was returned."""
        return dict(self._places)

    def read(self, limit: int, seconds: float) -> tuple[int, list[Incoming]]:
        """Return how many records were read, and those that are the key's."""
        messages = self._client.consume(num_messages=limit, timeout=seconds)
        if self._brokers.are_forgotten():
            raise Transient("Kafka: the client knows no broker any more; a new trail goes on")
        found: list[Incoming] = []
        for message in messages:
            _check(message)
            topic, partition, offset = message.topic(), message.partition(), message.offset()
            self._places[_place(topic or "", partition or 0)] = (offset or 0) + 1
            if topic not in self._keyed or message.key() == self._followed.key:
                found.append(incoming(message))
        self._go_on()
        return len(messages), found

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _go_on(self) -> None:
        """Pass what the client has passed: the end of a transaction has a place, and no record."""
        for each in self._client.position(self._client.assignment()):
            place = _place(each.topic, each.partition)
            self._places[place] = max(self._places[place], each.offset)

    def _begun(self, since_ms: int, places: Places) -> list[TopicPartition]:
        wanted = self._wanted()
        # Asked before the times, so that what comes between the two questions is read.
        ends = {_place(*each): self._end(*each) for each in wanted if _place(*each) not in places}
        asked = [TopicPartition(*each, since_ms) for each in wanted if _place(*each) not in places]
        found = self._client.offsets_for_times(asked, timeout=ASK_SECONDS) if asked else []
        for each in found:
            if each.offset in (-1, OFFSET_END):
                each.offset = ends[_place(each.topic, each.partition)]
        kept = [place for place in wanted if _place(*place) in places]
        return found + [TopicPartition(*each, places[_place(*each)]) for each in kept]

    def _wanted(self) -> list[tuple[str, int]]:
        known = self._client.list_topics(timeout=ASK_SECONDS).topics
        wanted = []
        for topic in (*self._followed.keyed, *self._followed.whole):
            partitions = known[topic].partitions if topic in known else {}
            keyed = topic in self._keyed and len(partitions) > 0
            held = partitions_of(self._followed.key, len(partitions)) if keyed else set(partitions)
            wanted += [(topic, each) for each in sorted(held)]
        return wanted

    def _end(self, topic: str, partition: int) -> int:
        place = TopicPartition(topic, partition)
        found = self._client.get_watermark_offsets(place, timeout=ASK_SECONDS, cached=False)
        if found is None:
            raise Transient(f"Kafka: the end of {topic} is not known")
        return found[1]


def _config(settings: KafkaSettings) -> Config:
    return onlooker_config(settings, GROUP) | {
        "enable.partition.eof": False,
        # A place that retention has deleted: what is left is read.
        "auto.offset.reset": "earliest",
        "fetch.wait.max.ms": 100,
    }


def _check(message: ClientMessage) -> None:
    error = message.error()
    if error is None:
        return
    raise trouble(error)


def _place(topic: str, partition: int) -> str:
    return f"{topic}/{partition}"
