"""How far groups are behind, asked of a real broker; and one that is not there."""

import uuid

import pytest

from services.backbone.errors import Transient
from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.consumer import Consumer
from services.backbone.kafka.lag import Lag, LagReader
from services.backbone.kafka.producer import Outgoing, Producer, ProducerSettings
from services.backbone.settings import KafkaSettings
from services.contracts.topics import Topic
from services.machine.waiting import wait_until

pytestmark = pytest.mark.kafka


def test_lag_is_what_a_group_has_not_settled(kafka_bootstrap: str) -> None:
    settings = ProducerSettings(kafka_bootstrap_servers=kafka_bootstrap)
    name, group = f"t{uuid.uuid4().hex}", f"g{uuid.uuid4().hex}"
    TopicAdmin(settings, "test").declare([Topic(name, partitions=3)])
    producer, reader = Producer(settings, "test"), LagReader(settings, "test")
    consumer = Consumer(settings, "test", group=group, topics=[name])
    producer.write([Outgoing(name, str(n), b"x") for n in range(30)])

    def told() -> list[Lag]:
        consumer.idle(0.0)
        return [each for each in reader.read() if each.group == group]

    read = 0
    while read < 30:
        batch = consumer.batch(100, 1.0)
        read += len(batch)
        consumer.commit(batch)
    wait_until(lambda: told() == [Lag(group, name, 0, True)], 60, "all is settled")
    producer.write([Outgoing(name, str(n), b"x") for n in range(7)])
    wait_until(lambda: told() == [Lag(group, name, 7, True)], 60, "seven wait")
    consumer.close()
    wait_until(lambda: Lag(group, name, 7, False) in reader.read(), 60, "nobody reads")
    producer.close()


def test_brokers_that_do_not_answer_are_told_of_in_time() -> None:
    reader = LagReader(KafkaSettings(kafka_bootstrap_servers="127.0.0.1:9"), "test")
    for _ in range(2):
        with pytest.raises(Transient):
            reader.read()
