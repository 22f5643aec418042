"""The only broker dies, and is away for longer than a consumer's session."""

import uuid

import pytest

from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.consumer import Consumer
from services.backbone.kafka.producer import Outgoing, Producer, ProducerSettings
from services.contracts.topics import Topic
from tests.broker import OwnBroker

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(180)]
TOPIC = "outage"


def test_who_settles_while_it_joins_again_is_not_fenced_by_its_earlier_self(
    own_broker: OwnBroker,
) -> None:
    """A commit without a member's id, of a name that the broker knows, ends the client for good."""
    settings = ProducerSettings(
        kafka_bootstrap_servers=own_broker.node.bootstrap, kafka_group_instance_id="accountant"
    )
    TopicAdmin(settings, "test").declare([Topic(TOPIC, partitions=1)])
    producer = Producer(settings, "test")
    producer.write([Outgoing(TOPIC, "k", b"before")])
    consumer = Consumer(settings, "test", group=uuid.uuid4().hex, topics=[TOPIC])
    while not (held := consumer.batch(10, 0.2)):
        continue
    own_broker.kill()
    while consumer.is_member():
        consumer.idle(0.2)
    own_broker.start()
    while not consumer.assigned():
        consumer.commit(held)
        consumer.idle(0.05)
    producer.write([Outgoing(TOPIC, "k", b"after")])
    found: set[bytes] = set()
    while b"after" not in found:
        found |= {each.value for each in consumer.batch(10, 0.2)}
    consumer.close()
    producer.close()
