"""The only broker dies for longer than a consumer's session, or its answer is lost."""

import time
import uuid
from collections.abc import Callable, Sequence

import pytest
from structlog.testing import capture_logs

from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.consumer import Consumer, Incoming
from services.backbone.kafka.producer import Outgoing, Producer, ProducerSettings
from services.contracts.topics import Topic
from tests.broker import OwnBroker
from tests.passage import Passage

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(180)]
TOPIC = "outage"
STRATEGY = b"cooperative-sticky"
"""Stands in whoever's wish to join, and in the answer to it."""


def reading(broker: OwnBroker, name: str) -> tuple[ProducerSettings, Consumer, list[Incoming]]:
    """Return a named member of a group of its own, and the first batch that it was given."""
    settings = ProducerSettings(
        kafka_bootstrap_servers=broker.node.bootstrap, kafka_group_instance_id=name
    )
    TopicAdmin(settings, "test").declare([Topic(TOPIC, partitions=1)])
    write(settings, b"before")
    consumer = Consumer(settings, "test", group=uuid.uuid4().hex, topics=[TOPIC])
    while not (held := consumer.batch(10, 0.2)):
        continue
    return settings, consumer, held


def reads_on(settings: ProducerSettings, consumer: Consumer) -> None:
    """Wait until it is given what is written from now on."""
    write(settings, b"after")
    found: set[bytes] = set()
    while b"after" not in found:
        found |= {each.value for each in consumer.batch(10, 0.2)}
    consumer.close()


def write(settings: ProducerSettings, value: bytes) -> None:
    producer = Producer(settings, "test")
    producer.write([Outgoing(TOPIC, "k", value)])
    producer.close()


def be_coordinated(bootstrap: str, group: str) -> None:
    """Let a nameless member come and go: a new broker may answer the first wish with an error."""
    settings = ProducerSettings(kafka_bootstrap_servers=bootstrap)
    consumer = Consumer(settings, "test", group=group, topics=[TOPIC])
    while not consumer.assigned():
        consumer.batch(1, 0.1)
    consumer.close()


def settle_while(consumer: Consumer, held: Sequence[Incoming], away: Callable[[], bool]) -> None:
    """Settle over and over, as a program does whose step takes longer than the outage."""
    while away():
        consumer.commit(held)
        consumer.idle(0.05)


def test_who_settles_while_it_joins_again_is_not_fenced_by_its_earlier_self(
    own_broker: OwnBroker,
) -> None:
    """A commit without a member's id, of a name that the broker knows, ends the client for good."""
    settings, consumer, held = reading(own_broker, "accountant")
    own_broker.kill()
    with capture_logs() as said:
        while "_ALL_BROKERS_DOWN" not in [each.get("kind") for each in said]:
            consumer.idle(0.1)
    settle_while(consumer, held, consumer.is_member)
    own_broker.start()
    settle_while(consumer, held, lambda: not consumer.assigned())
    reads_on(settings, consumer)


def test_who_never_hears_whether_it_was_taken_in_asks_again(passage: Passage) -> None:
    """Until then it polls and gets nothing, so the wait for a lost answer has to be short."""
    settings = ProducerSettings(
        kafka_bootstrap_servers=f"127.0.0.1:{passage.port}", kafka_group_instance_id="email"
    )
    TopicAdmin(settings, "test").declare([Topic(TOPIC, partitions=1)])
    group = uuid.uuid4().hex
    be_coordinated(settings.kafka_bootstrap_servers, group)
    passage.armed = STRATEGY
    consumer = Consumer(settings, "test", group=group, topics=[TOPIC])
    while STRATEGY not in passage.swallowed:
        consumer.batch(1, 0.1)
    passage.go_on()
    while not consumer.assigned():
        consumer.batch(1, 0.1)
    consumer.close()


def test_who_polls_too_late_joins_again(own_broker: OwnBroker) -> None:
    """A program that was stopped for a while, or a step that took long, ends nothing."""
    settings, consumer, _ = reading(own_broker, "late")
    while consumer.is_member():
        time.sleep(0.2)
    reads_on(settings, consumer)
