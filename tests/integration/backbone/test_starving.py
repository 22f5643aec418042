"""A member of a group that lives, polls, and fetches nothing, on a real broker."""

import uuid
from dataclasses import dataclass, field

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

from services.backbone.clock import SystemClock
from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.consumer import Consumer
from services.backbone.kafka.partitions import partitions_of
from services.backbone.kafka.producer import Outgoing, Producer, ProducerSettings
from services.backbone.reading import Reading
from services.contracts.topics import Topic
from services.machine.waiting import wait_until
from tests.broker import OwnBroker

pytestmark = pytest.mark.kafka


@dataclass
class Taking:
    """Takes records as a program does; a new client is to fetch what does not come for long."""

    consumer: Consumer
    reading: Reading = field(default_factory=lambda: Reading(SystemClock(), limit_seconds=1.0))
    found: set[bytes] = field(default_factory=set)

    def taken(self, value: bytes) -> bool:
        """Take what is there; tell whether this has come by now."""
        self.reading.turn(self.consumer)
        batch = self.consumer.batch(10, 0.1)
        self.found.update(each.value for each in batch)
        self.consumer.commit(batch)
        return value in self.found

    def trouble(self) -> str:
        """Take what is there; say why nothing comes, if so."""
        self.taken(b"")
        return self.reading.trouble() or ""


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
    taking = Taking(consumer)
    keys = [only_in(partition, partitions) for partition in range(partitions)]

    def taken(value: bytes) -> bool:
        producer.write([Outgoing(topic, key, b"flows") for key in keys[1:]])
        return taking.taken(value)

    producer.write([Outgoing(topic, keys[0], b"first")])
    wait_until(lambda: taken(b"first"), 60, "the first record")
    consumer._client.pause([TopicPartition(topic, 0)])  # noqa: SLF001 - no other way stops it
    producer.write([Outgoing(topic, keys[0], b"second")])
    wait_until(lambda: taken(b"second"), 60, "the second, by a new client")
    assert consumer.times_assigned() > 1
    consumer.close()
    producer.close()


@pytest.mark.parametrize("from_beginning", [True, False])
def test_a_topic_made_again_is_read_by_a_new_client(
    own_broker: OwnBroker, *, from_beginning: bool
) -> None:
    """A broker has started again since its first making: its leader's number began anew, which the
    client takes for old news. It neither reads on nor begins anew."""
    settings = ProducerSettings(kafka_bootstrap_servers=own_broker.node.bootstrap)
    group = topic = f"t-{uuid.uuid4().hex}"
    write_anew(settings, topic, b"first")
    consumer = Consumer(
        settings, "test", group=group, topics=[topic], from_beginning=from_beginning
    )
    taking = Taking(consumer)

    def taken(value: bytes) -> bool:
        write(settings, topic, [] if from_beginning else [value])
        return taking.taken(value)

    wait_until(lambda: taken(b"first"), 60, "the first record")
    own_broker.kill()
    own_broker.start()
    write(settings, topic, [b"flows"] * 20 + [b"second"])
    wait_until(lambda: taking.taken(b"second"), 60, "the second, of the broker started again")
    client = AdminClient({"bootstrap.servers": own_broker.node.bootstrap})
    client.delete_topics([topic])[topic].result(timeout=30)
    write_anew(settings, topic, b"third")
    wait_until(lambda: "records wait" in taking.trouble(), 60, "the old client lacks the third")
    wait_until(lambda: not taking.trouble(), 60, "a new client lacks nothing")
    wait_until(lambda: taken(b"third"), 60, "the third, of the topic made again")
    consumer.close()


def write_anew(settings: ProducerSettings, topic: str, value: bytes) -> None:
    admin = TopicAdmin(settings, "test")
    wait_until(lambda: topic in admin.declare([Topic(topic)]), 30, "a topic made")
    write(settings, topic, [value])


def write(settings: ProducerSettings, topic: str, values: list[bytes]) -> None:
    producer = Producer(settings, "test")
    producer.write([Outgoing(topic, "k", value) for value in values])
    producer.close()


def only_in(partition: int, partitions: int) -> str:
    return next(
        key
        for key in map(str, range(100))
        if partitions_of(key.encode(), partitions) == {partition}
    )
