"""Whoever looks something up joins no group, and needs the right to describe one all the same."""

import pytest
from confluent_kafka.admin import (  # type: ignore[attr-defined] # public, and not declared to be
    AclOperation,
    ResourceType,
)

from services.backbone.clock import SystemClock
from services.backbone.errors import Refused
from services.backbone.kafka import onlooker, trail
from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.newest import Newest, Room
from services.backbone.kafka.producer import Outgoing, Producer, ProducerSettings
from services.backbone.kafka.trail import Followed, Trail
from services.contracts.topics import Topic
from tests.broker import OwnBroker, forbid

pytestmark = pytest.mark.kafka

TOPIC = "looked-up"
KEY = "k"


@pytest.fixture
def settings(guarded_broker: OwnBroker) -> ProducerSettings:
    """A broker with one record on a topic."""
    settings = ProducerSettings(kafka_bootstrap_servers=guarded_broker.node.bootstrap)
    TopicAdmin(settings, "test").declare([Topic(TOPIC)])
    producer = Producer(settings, "test")
    producer.write([Outgoing(TOPIC, KEY, b"v")])
    producer.close()
    return settings


def newest(settings: ProducerSettings) -> list[bytes]:
    with Newest(settings, SystemClock(), TOPIC, Room()) as newest:
        return [each.value for each in newest.records()]


def followed(settings: ProducerSettings) -> list[bytes]:
    reading = Trail(settings, Followed(KEY.encode(), [TOPIC], []), 0, {})
    try:
        read = 0
        while not read:
            read, found = reading.read(1, 0.2)
        return [each.value for each in found]
    finally:
        reading.close()


def test_it_takes_the_right_to_describe_and_none_to_read(settings: ProducerSettings) -> None:
    for name in (onlooker.GROUP, trail.GROUP):
        bar(settings, name, AclOperation.READ)
    assert newest(settings) == followed(settings) == [b"v"]
    for name in (onlooker.GROUP, trail.GROUP):
        bar(settings, name, AclOperation.DESCRIBE)
    for look in (newest, followed):
        with pytest.raises(Refused, match="Group authorization failed"):
            look(settings)


def bar(settings: ProducerSettings, group: str, operation: AclOperation) -> None:
    forbid(settings.kafka_bootstrap_servers, group, operation, kind=ResourceType.GROUP)
