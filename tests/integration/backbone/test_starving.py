"""A member of a group that lives, polls, and fetches nothing, on a real broker."""

import uuid

import pytest
from confluent_kafka import TopicPartition

from services.backbone.clock import SystemClock
from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.consumer import Consumer
from services.backbone.kafka.partitions import partitions_of
from services.backbone.kafka.producer import Outgoing, Producer, ProducerSettings
from services.backbone.reading import Reading
from services.contracts.topics import Topic
from services.machine.waiting import wait_until

pytestmark = pytest.mark.kafka


@pytest.mark.parametrize("partitions", [1, 2])
def test_a_client_that_fetches_nothing_of_what_a_partition_holds_is_replaced(
    kafka_bootstrap: str, partitions: int
) -> None:
    """As one does whose question for its offsets met a coordinator that had moved; also where
    another partition brings records all the time."""
    settings = ProducerSettings(kafka_bootstrap_servers=kafka_bootstrap)
    topic, producer = f"t-{uuid.uuid4().hex}", Producer(settings, "test")
    TopicAdmin(settings, "test").declare([Topic(topic, partitions)])
    consumer = Consumer(settings, "test", group=uuid.uuid4().hex, topics=[topic])
    reading, found = Reading(SystemClock(), limit_seconds=1.0), set[bytes]()

    keys = [only_in(partition, partitions) for partition in range(partitions)]

    def take() -> None:
        reading.turn(consumer)
        batch = consumer.batch(10, 0.1)
        found.update(each.value for each in batch)
        consumer.commit(batch)

    def taken(value: bytes) -> bool:
        producer.write([Outgoing(topic, key, b"flows") for key in keys[1:]])
        take()
        return value in found

    producer.write([Outgoing(topic, keys[0], b"first")])
    wait_until(lambda: taken(b"first"), 60, "the first record")
    consumer._client.pause([TopicPartition(topic, 0)])  # noqa: SLF001 - no other way stops it
    producer.write([Outgoing(topic, keys[0], b"second")])
    wait_until(lambda: taken(b"second"), 60, "the second, by a new client")
    assert consumer.times_assigned() > 1
    consumer.close()
    producer.close()


def only_in(partition: int, partitions: int) -> str:
    return next(
        key
        for key in map(str, range(100))
        if partitions_of(key.encode(), partitions) == {partition}
    )
