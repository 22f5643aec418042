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


def member(bootstrap: str, name: str) -> ProducerSettings:
    """Return the settings of a member with a name."""
    return ProducerSettings(kafka_bootstrap_servers=bootstrap, kafka_group_instance_id=name)


def test_of_a_partition_that_was_given_away_nothing_is_committed(
    kafka_bootstrap: str, topic: str
) -> None:
    settings, group = member(kafka_bootstrap, ""), uuid.uuid4().hex
    write(kafka_bootstrap, topic, 20)
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


def test_a_member_with_a_name_takes_its_place_back_and_the_older_one_ends(
    kafka_bootstrap: str, topic: str
) -> None:
    named, group = member(kafka_bootstrap, "lookout-0"), uuid.uuid4().hex
    write(kafka_bootstrap, topic, 1)
    older = Consumer(named, "test", group=group, topics=[topic])
    until_read(older)
    newer = Consumer(named, "test", group=group, topics=[topic])
    until_read(newer)
    with pytest.raises(Ended, match="fenced"):
        read_for_ever(older)
    newer.close()
    older.close()


def names_in(group: str, bootstrap: str) -> set[str]:
    """Return the names of a group's members, as the broker knows them now."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    told = admin.describe_consumer_groups([group])[group].result(30)
    return {member.group_instance_id for member in told.members}


def test_a_member_with_a_name_that_ends_leaves_what_it_read_to_the_others_at_once(
    kafka_bootstrap: str, topic: str
) -> None:
    group, names = uuid.uuid4().hex, ("lookout-0", "lookout-1")
    settings = [member(kafka_bootstrap, name) for name in names]
    first, second = (Consumer(each, "test", group=group, topics=[topic]) for each in settings)
    while (first.assigned(), second.assigned()) != (1, 1):
        first.batch(1, 0.05)
        second.batch(1, 0.05)
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
