"""Whoever looks something up joins no group, and needs the right to describe one all the same."""

from collections.abc import Callable
from functools import partial

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
from services.machine.waiting import wait_until
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
    with Newest(settings, SystemClock(), TOPIC, Room(seconds=60.0)) as newest:
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
        # A client may read what it came for before it has asked for the group.
        wait_until(partial(is_refused, look, settings), 20, "it is never refused")


def is_refused(look: Callable[[ProducerSettings], object], settings: ProducerSettings) -> bool:
    try:
        look(settings)
    except Refused as refused:
        return "Group authorization failed" in str(refused)
    return False


def bar(settings: ProducerSettings, group: str, operation: AclOperation) -> None:
    forbid(settings.kafka_bootstrap_servers, group, operation, kind=ResourceType.GROUP)
