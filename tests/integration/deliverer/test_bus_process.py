"""The bus channel, and deliverers without a broker or without a ledger."""

from collections import Counter

import pytest

from services.contracts.records import Delivery
from services.contracts.states import State
from services.machine.ports import free_ports
from tests.integration.deliverer.conftest import Bus, Start
from tests.integration.deliverer.ledgers import Ledger
from tests.integration.deliverer.receivers import WebhookReceiver
from tests.integration.deliverer.waiting import until
from tests.unit.deliverer.builders import delivery

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]


@pytest.mark.promise("permanent", "bus")
def test_each_delivery_is_one_record_of_the_topic_named_by_its_recipient(
    start: Start, bus: Bus, ledger: Ledger
) -> None:
    sent = [delivery(n, channel="bus", recipient="notifications") for n in range(20)]
    looping = delivery(99, channel="bus", recipient="deliveries.bus")
    ledger.add(*sent, looping)
    start("bus")
    bus.tell(sent)
    until(lambda: set(ledger.states().values()) == {State.SENT, State.FAILED}, "all at rest")
    assert ledger.row(looping)["state"] == State.FAILED
    ids = {each.delivery_id for each in sent}
    records = bus.read("notifications", lambda found: ids <= {each.key for each in found})
    assert Counter(each.key for each in records if each.key in ids) == Counter(ids)
    assert {Delivery.decode(each.value).delivery_id for each in records} >= ids


def test_without_a_broker_the_ledger_is_still_worked_off(
    start: Start, ledger: Ledger, receiver: WebhookReceiver
) -> None:
    sent = [delivery(n, recipient=receiver.url) for n in range(5)]
    ledger.add(*sent)
    nowhere = f"127.0.0.1:{free_ports(1)[0]}"
    deliverer = start("webhook", ready=False, kafka_bootstrap_servers=nowhere)
    until(lambda: set(ledger.states().values()) == {State.SENT}, "all sent")
    assert receiver.came() == Counter(each.delivery_id for each in sent)
    until(lambda: "Kafka" in deliverer.page("/healthz/ready")[1], "says that Kafka is away")
    assert deliverer.page("/healthz/live")[0] == 200
    assert deliverer.end() == 0


@pytest.mark.promise("not_taken", "bus")
def test_a_topic_that_does_not_exist_is_named_and_holds_up_no_other(
    start: Start, ledger: Ledger
) -> None:
    """Five of them would open the channel's breaker, were they failures of the cluster."""
    lost = [delivery(n, channel="bus", recipient="notificatons") for n in range(6)]
    ledger.add(*lost)
    deliverer = start("bus", retry_first_seconds=60, retry_limit_seconds=60)
    until(lambda: set(ledger.states().values()) == {State.RETRY_WAIT}, "all wait")
    for each in lost:
        assert ledger.row(each)["reason"].startswith("topic notificatons does not exist: create")
        assert ledger.row(each)["attempt"] == 1
    good = delivery(9, channel="bus", recipient="notifications")
    ledger.add(good)
    until(lambda: ledger.row(good)["state"] == State.SENT, "the topic that exists is written to")
    assert 'aldebaran_deliverer_breakers_open{channel="bus"} 0.0' in deliverer.page("/metrics")[1]
