"""How far groups are behind, asked of a real broker; and one that is not there."""

import uuid
from functools import partial

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined] # public, and not declared to be
    AclOperation,
    AdminClient,
)

from services.backbone.errors import Transient
from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.consumer import Consumer
from services.backbone.kafka.lag import GROUPS_LIMIT, Lag, LagReader, Told
from services.backbone.kafka.lag_apart import LagApart
from services.backbone.kafka.producer import Outgoing, Producer, ProducerSettings
from services.backbone.settings import KafkaSettings
from services.contracts.topics import Topic
from services.machine.waiting import wait_until
from tests.broker import OwnBroker, forbid

pytestmark = pytest.mark.kafka


def test_lag_is_what_a_group_has_not_settled(kafka_bootstrap: str) -> None:
    settings = ProducerSettings(kafka_bootstrap_servers=kafka_bootstrap)
    name, group = f"t{uuid.uuid4().hex}", f"g{uuid.uuid4().hex}"
    TopicAdmin(settings, "test").declare([Topic(name, partitions=3)])
    producer, reader = Producer(settings, "test"), LagReader(settings, "test", {name}.__contains__)
    consumer = Consumer(settings, "test", group=group, topics=[name])
    producer.write([Outgoing(name, str(n), b"x") for n in range(30)])

    def told() -> list[Lag]:
        consumer.idle(0.0)
        return list(reader.read().lags)

    read = 0
    while read < 30:
        batch = consumer.batch(100, 1.0)
        read += len(batch)
        consumer.commit(batch)
    wait_until(lambda: told() == [Lag(group, name, 0, True)], 60, "all is settled")
    producer.write([Outgoing(name, str(n), b"x") for n in range(7)])
    wait_until(lambda: told() == [Lag(group, name, 7, True)], 60, "seven wait")
    consumer.close()
    wait_until(lambda: reader.read() == Told((Lag(group, name, 7, False),)), 60, "nobody reads")
    producer.close()


def settle(bootstrap: str, topic: str, groups: list[str]) -> None:
    """Let groups without members have settled the first record of a topic."""
    client = AdminClient({"bootstrap.servers": bootstrap})
    for group in groups:
        wait_until(partial(settles, client, topic, group), 60, "a broker takes what is settled")


def settles(client: AdminClient, topic: str, group: str, end: int = 1) -> bool:
    """Try it once; a new broker answers that it is not ready to keep it, partition by partition."""
    settled = ConsumerGroupTopicPartitions(group, [TopicPartition(topic, 0, end)])
    told = client.alter_consumer_group_offsets([settled])[group].result(60)
    return not any(place.error for place in told.topic_partitions)


def test_our_group_is_told_of_behind_many_strangers(kafka_bootstrap: str) -> None:
    settings = ProducerSettings(kafka_bootstrap_servers=kafka_bootstrap)
    name = uuid.uuid4().hex
    own, foreign, group = f"t{name}", f"x{name}", f"z{name}"
    TopicAdmin(settings, "test").declare([Topic(own), Topic(foreign)])
    producer = Producer(settings, "test")
    producer.write([Outgoing(topic, "k", b"x") for topic in (own, own, own, foreign)])
    settle(kafka_bootstrap, foreign, [f"a{n}-{name}" for n in range(GROUPS_LIMIT + 1)])
    settle(kafka_bootstrap, own, [group])
    reader = LagReader(settings, "test", {own}.__contains__)
    assert reader.read() == Told((Lag(group, own, 2, has_members=False),))
    producer.close()


def test_a_topic_made_again_is_told_with_all_that_it_holds(kafka_bootstrap: str) -> None:
    """With the topic brokers forget what was settled of it, and what comes late is of the other."""
    settings = ProducerSettings(kafka_bootstrap_servers=kafka_bootstrap)
    name, group = f"t{uuid.uuid4().hex}", f"g{uuid.uuid4().hex}"
    client = AdminClient({"bootstrap.servers": kafka_bootstrap})
    reader = LagReader(settings, "test", {name}.__contains__)
    TopicAdmin(settings, "test").declare([Topic(name)])
    write(settings, name, 3)
    wait_until(lambda: settles(client, name, group, 2), 60, "a broker takes what is settled")
    assert told_of(reader) == [Lag(group, name, 1, has_members=False)]

    make_again(settings, name)
    again = [Lag(group, name, 1, has_members=False, made_again=True)]
    wait_until(lambda: told_of(reader) == again, 60, "what is there waits")
    wait_until(lambda: settles(client, name, group, 2), 60, "what was read of the other is settled")
    assert told_of(reader) == again
    wait_until(lambda: settles(client, name, group, 1), 60, "what is there is settled")
    assert told_of(reader) == [Lag(group, name, 0, has_members=False)]


def make_again(settings: ProducerSettings, topic: str) -> None:
    """Delete a topic, and make it with one record on it."""
    admin = TopicAdmin(settings, "test")
    client = AdminClient({"bootstrap.servers": settings.kafka_bootstrap_servers})
    client.delete_topics([topic])[topic].result(timeout=30)
    wait_until(lambda: admin.declare([Topic(topic)]) == [topic], 60, "the topic is made again")
    write(settings, topic, 1)


def write(settings: ProducerSettings, topic: str, count: int) -> None:
    """Write so many records."""
    producer = Producer(settings, "test")
    producer.write([Outgoing(topic, "k", b"x")] * count)
    producer.close()


def test_a_topic_that_may_not_be_described_any_more_hides_no_other(
    guarded_broker: OwnBroker,
) -> None:
    bootstrap, topics = guarded_broker.node.bootstrap, ("first", "second")
    settings = ProducerSettings(kafka_bootstrap_servers=bootstrap)
    TopicAdmin(settings, "test").declare([Topic(name) for name in topics])
    reader = LagReader(settings, "test", topics.__contains__)
    for name in topics:
        write(settings, name, 3)
        settle(bootstrap, name, ["g"])
    both = [Lag("g", name, 2, has_members=False) for name in topics]
    wait_until(lambda: told_of(reader) == both, 60, "both are told")

    forbid(bootstrap, "first", AclOperation.DESCRIBE)
    wait_until(lambda: not lists(bootstrap, "first"), 20, "the right is withdrawn")
    assert reader.read().lags == (both[1],)


def lists(bootstrap: str, topic: str) -> bool:
    """Tell whether a topic may be described."""
    return topic in AdminClient({"bootstrap.servers": bootstrap}).list_topics(timeout=30).topics


def told_of(reader: LagReader | LagApart) -> list[Lag]:
    """Return what is told; nothing while brokers do not know a topic's leader yet."""
    try:
        return list(reader.read().lags)
    except Transient:
        return []


def test_brokers_that_do_not_answer_are_told_of_in_time() -> None:
    away = KafkaSettings(kafka_bootstrap_servers="127.0.0.1:9")
    reader = LagReader(away, "test", lambda _: True)
    for _ in range(2):
        with pytest.raises(Transient):
            reader.read()
