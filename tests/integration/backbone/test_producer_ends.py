"""A producer that a real broker ends for good: it may not write any more."""

import pytest

from services.backbone.errors import Trouble
from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.producer import Outgoing, Producer, ProducerSettings
from services.contracts.topics import Topic
from services.machine.waiting import wait_until
from tests.broker import OwnBroker, bar_writers

pytestmark = pytest.mark.kafka
TOPIC = "barred"


def test_who_waits_for_a_barred_producer_hears_of_it_and_it_says_that_it_has_ended(
    guarded_broker: OwnBroker,
) -> None:
    settings = ProducerSettings(kafka_bootstrap_servers=guarded_broker.node.bootstrap)
    TopicAdmin(settings, "test").declare([Topic(TOPIC)])
    bar_writers(settings.kafka_bootstrap_servers)
    barred = Producer(settings, "test")
    for _ in range(2):
        (outcome,) = barred.send([Outgoing(TOPIC, "k", b"v")]).result(30)
        assert isinstance(outcome, Trouble)
    wait_until(lambda: barred.unusable() is not None, 10, "does not say that it has ended")
    assert "authorization" in str(barred.unusable()).lower()
    barred.close()
