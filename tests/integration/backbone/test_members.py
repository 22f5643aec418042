"""Members of a group: each answers for its own partitions, keeps its name, and leaves."""

import uuid

import pytest
from confluent_kafka import Consumer as Client
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

from services.backbone.errors import Ended
from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.consumer import Consumer, Incoming
from services.backbone.kafka.producer import Outgoing, Producer, ProducerSettings
from services.backbone.settings import KafkaSettings
from services.contracts.topics import Topic
from services.machine.waiting import wait_until

pytestmark = pytest.mark.kafka


@pytest.fixture
def topic(kafka_bootstrap: str) -> str:
    name = f"t-{uuid.uuid4().hex}"
    settings = ProducerSettings(kafka_bootstrap_servers=kafka_bootstrap)
    TopicAdmin(settings, "test").declare([Topic(name, partitions=2)])
    return name


def write(bootstrap: str, topic: str, count: int) -> None:
    """Write so many records, all over the topic's partitions."""
    producer = Producer(ProducerSettings(kafka_bootstrap_servers=bootstrap), "test")
    producer.write([Outgoing(topic, str(n), b"x") for n in range(count)])
    producer.close()


def member(bootstrap: str, group: str, topic: str, name: str = "") -> Consumer:
    """Return a new member of a group, with a name or without."""
    settings = KafkaSettings(kafka_bootstrap_servers=bootstrap, kafka_group_instance_id=name)
    return Consumer(settings, "test", group=group, topics=[topic])


def share(first: Consumer, second: Consumer) -> None:
    """Let two members read until each has one of the topic's partitions."""

    def shared() -> bool:
        first.batch(20, 0.1)
        second.batch(20, 0.1)
        return first.assigned() == second.assigned() == 1

    wait_until(shared, 60, "the two do not share the topic")


def test_of_a_partition_that_was_given_away_nothing_is_committed(
    kafka_bootstrap: str, topic: str
) -> None:
    group = uuid.uuid4().hex
    write(kafka_bootstrap, topic, 20)
    first = member(kafka_bootstrap, group, topic)
    held: list[Incoming] = []

    def all_read() -> bool:
        held.extend(first.batch(20, 0.1))
        return len(held) == 20

    wait_until(all_read, 60, "not all is read")
    second = member(kafka_bootstrap, group, topic)
    share(first, second)
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


def test_a_member_with_a_name_takes_its_place_back_and_the_older_one_ends(
    kafka_bootstrap: str, topic: str
) -> None:
    group = uuid.uuid4().hex
    write(kafka_bootstrap, topic, 1)
    older = member(kafka_bootstrap, group, topic, "lookout-0")
    until_read(older)
    newer = member(kafka_bootstrap, group, topic, "lookout-0")
    until_read(newer)
    with pytest.raises(Ended, match="fenced"):
        read_for_ever(older)
    newer.close()
    older.close()


def names_in(group: str, bootstrap: str) -> set[str]:
    """Return the names of a group's members, as the broker knows them now."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    told = admin.describe_consumer_groups([group])[group].result(30)
    return {each.group_instance_id for each in told.members}


def test_a_member_with_a_name_that_ends_leaves_what_it_read_to_the_others_at_once(
    kafka_bootstrap: str, topic: str
) -> None:
    group, names = uuid.uuid4().hex, ("lookout-0", "lookout-1")
    first, second = (member(kafka_bootstrap, group, topic, name) for name in names)
    share(first, second)
    assert names_in(group, kafka_bootstrap) == set(names)
    first.close()
    assert names_in(group, kafka_bootstrap) == {"lookout-1"}
    while second.assigned() < 2:
        second.batch(1, 0.05)
    second.close()


def until_read(consumer: Consumer) -> None:
    while not consumer.batch(1, 1.0):
        continue


def read_for_ever(consumer: Consumer) -> None:
    while True:
        consumer.batch(1, 1.0)
