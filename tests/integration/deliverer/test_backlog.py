"""What waits for a slow provider: where an autoscaler finds it, and where it does not."""

import threading
from contextlib import closing

import pytest
from confluent_kafka import Consumer as Client
from confluent_kafka import TopicPartition

from services.contracts import topics
from services.contracts.states import State
from tests.integration.deliverer.conftest import Bus, Start
from tests.integration.deliverer.ledgers import Ledger
from tests.integration.deliverer.receivers import Answer, WebhookReceiver
from tests.integration.deliverer.waiting import until
from tests.unit.deliverer.builders import delivery

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]

CONCURRENCY, COUNT = 4, 30


def lag(bus: Bus) -> int:
    """Return how much of the webhooks' topic its deliverers have not committed."""
    topic = topics.deliveries("webhook")
    brokers = bus.settings.kafka_bootstrap_servers
    client = Client({"bootstrap.servers": brokers, "group.id": "deliverer-webhook"})
    with closing(client):
        places = client.committed([TopicPartition(topic, n) for n in range(2)], timeout=10)
        ends = [client.get_watermark_offsets(each, timeout=10) for each in places]
    known = zip(places, (each for each in ends if each), strict=True)
    return sum(end - max(begin, place.offset) for place, (begin, end) in known)


def test_behind_a_slow_receiver_deliveries_are_due_and_the_topic_has_no_lag(
    start: Start, bus: Bus, ledger: Ledger, receiver: WebhookReceiver
) -> None:
    goes_on = threading.Event()
    receiver.script = lambda number, key: Answer(after=goes_on)
    deliverer = start("webhook", concurrency=CONCURRENCY, send_timeout_seconds=60)
    sent = [delivery(n, recipient=receiver.url) for n in range(COUNT)]
    ledger.add(*sent)
    bus.tell(sent)
    waiting = float(COUNT - CONCURRENCY // 2)
    until(lambda: deliverer.metric("aldebaran_deliverer_due{") == waiting, "what waits is due")
    until(lambda: lag(bus) == 0, "the topic is read to its end")
    assert deliverer.metric("aldebaran_deliverer_due{") == waiting
    goes_on.set()
    until(lambda: set(ledger.states().values()) == {State.SENT}, "all sent")
