"""What the brokers hold of partitions, beside what a member of a group has read of them."""

from collections.abc import Mapping, Sequence

from confluent_kafka import Consumer as Client
from confluent_kafka import KafkaException, TopicPartition

from services.backbone.errors import Transient
from services.backbone.kafka.client import trouble
from services.backbone.kafka.settled import Place


def held(
    client: Client, places: Sequence[TopicPartition], timeout_seconds: float
) -> list[tuple[int, int]]:
    """Return of each partition the first offset that is there, and the one after the last.

    Raises:
        Transient, Refused: the brokers do not say.
    """
    try:
        asked = [
            client.get_watermark_offsets(each, timeout=timeout_seconds, cached=False)
            for each in places
        ]
    except KafkaException as error:
        raise trouble(error) from None
    if None in asked:
        raise Transient("Kafka: the end of a partition is not known")
    return [each for each in asked if each]


def unread(
    client: Client, read: Sequence[TopicPartition], timeout_seconds: float, *, from_beginning: bool
) -> Mapping[Place, int]:
    """Return how many records there are after what was read, of partitions where there are any.

    A place behind the end is of a topic that was deleted and made again under the same name, of
    which the client may never hear: it counts for nothing, and all that is there is unread.

    A member that begins at the end misses nothing before its first record: what is there is none of
    its business. So does its new client on a topic that was made again, where what was settled of
    the old one lies behind the end.

    Raises:
        Transient, Refused: the brokers do not say.
    """
    try:
        settled = client.committed(list(read), timeout=timeout_seconds)
    except KafkaException as error:
        raise trouble(error) from None
    counts = {
        (each.topic, each.partition): end - _next(begin, end, each.offset, at.offset)
        for each, at, (begin, end) in zip(
            read, settled, held(client, read, timeout_seconds), strict=True
        )
        if from_beginning or each.offset >= 0 or 0 <= at.offset <= end
    }
    return {place: count for place, count in counts.items() if count > 0}


def _next(begin: int, end: int, *places: int) -> int:
    return max([begin, *(place for place in places if place <= end)])
