"""A piece of topics by time, read outside of any group: for people who look something up."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from confluent_kafka import Consumer as Client
from confluent_kafka import KafkaError, KafkaException, Message, TopicPartition

from services.backbone.clock import Clock
from services.backbone.kafka.client import common_config, opened, trouble
from services.backbone.kafka.consumer import Incoming, incoming
from services.backbone.kafka.sayings import Sayings
from services.backbone.settings import KafkaSettings

POLL_SECONDS: Final = 0.2
_GROUP: Final = "window"  # asked for by the client, and used for nothing


@dataclass(frozen=True, slots=True)
class Span:
    """From when to when, by the records' times, in milliseconds since 1970 (UTC)."""

    since_ms: int
    until_ms: int


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much is read at most, and for how long."""

    records: int = 50_000
    seconds: float = 2.0


def window(
    settings: KafkaSettings, clock: Clock, topics: Sequence[str], span: Span, bounds: Bounds
) -> Iterator[Incoming]:
    """Yield the records of topics in a span, until it is over or the bounds are reached.

    A topic that does not exist has none.

    Raises:
        Transient, Refused: the brokers do not answer.
    """
    ends_at = clock.monotonic_seconds() + bounds.seconds
    client = opened(Client, _config(settings) | {"logger": Sayings()})
    try:
        waited = _assign(client, topics, span.since_ms, bounds.seconds)
        left = bounds.records
        while waited and left > 0 and clock.monotonic_seconds() < ends_at:
            message = client.poll(POLL_SECONDS)
            if message is None:
                continue
            place = message.topic(), message.partition()
            if _is_over(message, span.until_ms):
                waited.discard(place)
            elif place in waited:
                left -= 1
                yield incoming(message)
    except KafkaException as error:
        raise trouble(error) from None
    finally:
        client.close()


def _config(settings: KafkaSettings) -> dict[str, str | int | float | bool]:
    return common_config(settings, _GROUP) | {
        "group.id": _GROUP,
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "enable.partition.eof": True,
        "fetch.wait.max.ms": 50,
    }


def _assign(
    client: Client, topics: Sequence[str], since_ms: int, seconds: float
) -> set[tuple[str | None, int | None]]:
    """Begin at the first records that are not older; return the partitions that have any."""
    known = client.list_topics(timeout=seconds).topics
    asked = [
        TopicPartition(topic, partition, since_ms)
        for topic in topics
        if topic in known
        for partition in known[topic].partitions
    ]
    found = client.offsets_for_times(asked, timeout=seconds) if asked else []
    begun = [each for each in found if each.offset >= 0]
    client.assign(begun)
    return {(each.topic, each.partition) for each in begun}


def _is_over(message: Message, until_ms: int) -> bool:
    error = message.error()
    if error is None:
        return message.timestamp()[1] > until_ms
    if error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001 - the client's public name for it
        return True
    raise KafkaException(error)
