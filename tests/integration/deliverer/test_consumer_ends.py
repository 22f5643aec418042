"""A deliverer whose consumer has ended for good ends too, when it has recorded what it sent."""

import threading

import pytest

from services.backbone.kafka.consumer import Consumer
from services.backbone.service import EXIT_DEPENDENCY
from services.contracts import topics
from services.contracts.states import State
from tests.integration.deliverer.conftest import Bus, Start
from tests.integration.deliverer.ledgers import Ledger
from tests.integration.deliverer.receivers import Answer, WebhookReceiver
from tests.integration.deliverer.waiting import until
from tests.unit.deliverer.builders import delivery

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]


def test_a_deliverer_whose_name_in_the_group_was_taken_records_what_is_under_way(
    start: Start, bus: Bus, ledger: Ledger, receiver: WebhookReceiver
) -> None:
    release = threading.Event()
    receiver.script = lambda number, key: Answer(after=release)
    one = delivery(1, recipient=receiver.url)
    ledger.add(one)
    deliverer = start("webhook", send_timeout_seconds=60)
    until(lambda: receiver.requests, "the request is read")
    name = deliverer.environment["ALDEBARAN_KAFKA_GROUP_INSTANCE_ID"]
    settings = bus.settings.model_copy(update={"kafka_group_instance_id": name})
    topic = topics.deliveries("webhook")
    other = Consumer(settings, "test", group="deliverer-webhook", topics=[topic])

    def stops() -> bool:
        other.batch(1, 0.1)
        return not deliverer.runs or bool(deliverer.logged("draining"))

    until(stops, "goes on without a consumer")
    release.set()
    assert deliverer.process is not None
    assert deliverer.process.wait(30) == EXIT_DEPENDENCY
    other.close()
    assert ledger.row(one)["state"] == State.SENT
    assert deliverer.logged("client_ended")
