"""Who commits what: a member answers for its own partitions only."""

import uuid

import pytest
from confluent_kafka import Consumer as Client
from confluent_kafka import TopicPartition

from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.consumer import Consumer, Incoming
from services.backbone.kafka.producer import Outgoing, Producer, ProducerSettings
from services.contracts.topics import Topic
from services.machine.waiting import wait_until

pytestmark = pytest.mark.kafka


def test_of_a_partition_that_was_given_away_nothing_is_committed(kafka_bootstrap: str) -> None:
    settings = ProducerSettings(kafka_bootstrap_servers=kafka_bootstrap)
    topic, group = f"t-{uuid.uuid4().hex}", uuid.uuid4().hex
    TopicAdmin(settings, "test").declare([Topic(topic, partitions=2)])
    producer = Producer(settings, "test")
    producer.write([Outgoing(topic, str(n), b"x") for n in range(20)])
    producer.close()

    first = Consumer(settings, "test", group=group, topics=[topic])
    held: list[Incoming] = []

    def all_read() -> bool:
        held.extend(first.batch(20, 0.1))
        return len(held) == 20

    wait_until(all_read, 60, "not all is read")
    second = Consumer(settings, "test", group=group, topics=[topic])

    def shared() -> bool:
        first.batch(20, 0.1)
        second.batch(20, 0.1)
        return first.assigned() == second.assigned() == 1

    wait_until(shared, 60, "the two do not share the topic")
    first.commit(held)
    first.close()
    assert committed(kafka_bootstrap, group, topic) == 1
    second.close()


def committed(bootstrap: str, group: str, topic: str) -> int:
    """Return of how many of a topic's two partitions a group has committed anything."""
    client = Client({"bootstrap.servers": bootstrap, "group.id": group})
    places = client.committed([TopicPartition(topic, n) for n in range(2)], timeout=10)
    client.close()
    return sum(place.offset >= 0 for place in places)
