"""The sender to Kafka, on a real broker that ends its producer for good, or lets it not write."""

from itertools import islice

import pytest
from confluent_kafka.admin import (  # type: ignore[attr-defined] # public, and not declared to be
    AclOperation,
)

from services.backbone.errors import Refused, Transient
from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.producer import Producer, ProducerSettings
from services.contracts.topics import Topic
from services.machine.waiting import wait_until
from services.simulator.dials import Shape
from services.simulator.history import history
from services.simulator.kafka_sender import KafkaSender
from services.simulator.sending import Settled
from services.simulator.tally import Outcome
from tests.broker import OwnBroker, bar_writers, forbid

pytestmark = pytest.mark.kafka
TOPIC = "barred"


def test_what_the_producers_end_leaves_open_is_counted(guarded_broker: OwnBroker) -> None:
    settings = ProducerSettings(kafka_bootstrap_servers=guarded_broker.node.bootstrap)
    TopicAdmin(settings, "test").declare([Topic(TOPIC)])
    bar_writers(settings.kafka_bootstrap_servers)
    sender = KafkaSender(Producer(settings, "test"), TOPIC)
    messages = history(Shape(), "run", 40)
    settled: list[Settled] = []
    sent = 0

    def send_and_collect() -> bool:
        nonlocal sent
        sent += 5 * sender.start(list(islice(messages, 5)))
        settled.extend(sender.collect())
        return False

    with pytest.raises(Transient, match="cannot go on"):
        wait_until(send_and_collect, 60, "the producer did not end")
    settled += sender.close()
    assert sum(len(each.outcomes) for each in settled) == sent > 0


def test_a_topic_that_may_not_be_written_ends_the_run(guarded_broker: OwnBroker) -> None:
    settings = ProducerSettings(kafka_bootstrap_servers=guarded_broker.node.bootstrap)
    TopicAdmin(settings, "test").declare([Topic(TOPIC)])
    forbid(settings.kafka_bootstrap_servers, TOPIC, AclOperation.WRITE)
    sender = KafkaSender(Producer(settings, "test"), TOPIC)
    sender.start(list(islice(history(Shape(), "run", 40), 5)))
    with pytest.raises(Refused, match="authorization failed"):
        wait_until(lambda: bool(list(sender.collect())), 60, "nothing was answered")
    (left,) = sender.close()
    assert left.outcomes == [Outcome.REJECTED] * 5
