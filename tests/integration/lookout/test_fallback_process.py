"""A provider refuses for good: the lookout tells the next target, and a second deliverer sends."""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from services.backbone.kafka.producer import Producer
from services.contracts.ids import delivery_id
from services.contracts.records import Alert
from tests.integration.deliverer.conftest import Relay, receiver, relay
from tests.integration.deliverer.programs import DelivererProcess
from tests.integration.deliverer.receivers import Answer, WebhookReceiver
from tests.integration.lookout.findings import findings
from tests.integration.lookout.later_rows import rows
from tests.integration.lookout.processes import Lookouts, Reader, eventually, write_alerts

__all__ = ["receiver", "relay"]

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]

DESK = "desk@example.com"
ROUTES = """
version: 1
routes:
  - name: hot
    match: {watch: over-heat}
    send:
      - channel: email
        to: desk@example.com
        fallback: [{channel: webhook, to: "%s"}, {channel: bus, to: notifications}]
default:
  send: [{channel: bus, to: notifications}]
"""
NEVER = Answer(status=410, taken=False)


@pytest.fixture
def programs(
    lookouts: Lookouts, relay: Relay, receiver: WebhookReceiver, tmp_path: Path
) -> Iterator[None]:
    """A lookout with these routes, and a deliverer for each of the channels."""
    routes = tmp_path / "routes.yaml"
    routes.write_text(ROUTES % receiver.url)
    keeping = {"ALDEBARAN_ROUTES_FILE": str(routes), "ALDEBARAN_LOOKOUT_KEEPER_SECONDS": "0.2"}
    lookouts.settings |= keeping
    lookouts.start()
    shared = {
        "ALDEBARAN_KAFKA_BOOTSTRAP_SERVERS": lookouts.kafka_bootstrap,
        "ALDEBARAN_POSTGRES_URL": lookouts.ledger_url,
        "ALDEBARAN_EMAIL_PORT": str(relay.port),
        "ALDEBARAN_SWEEP_SECONDS": "0.2",
    }
    with ExitStack() as running:
        for channel in ("email", "webhook", "bus"):
            settings = shared | {"ALDEBARAN_CHANNEL": channel, "ALDEBARAN_INSTANCE": channel}
            log_file = tmp_path / f"{channel}.log"
            running.enter_context(DelivererProcess(settings, log_file).running())
        yield


def ids(alert: Alert, **recipients: str) -> list[str]:
    """Return the ids of deliveries; earlier tests' alerts are told here too."""
    told = recipients.items()
    return [delivery_id(alert.alert_id, channel, recipient) for channel, recipient in told]


def stands(url: str, alert: Alert) -> dict[str, str]:
    """Return the state of the alert's delivery on each channel that it has one on."""
    question = "SELECT channel, state FROM deliveries WHERE alert_id = %s"
    return dict(rows(url, question, alert.alert_id))


@pytest.mark.usefixtures("programs")
def test_refused_by_mail_the_webhook_is_told_once(
    lookouts: Lookouts, producer: Producer, relay: Relay, receiver: WebhookReceiver
) -> None:
    relay.mailbox.on_recipient = "550 5.1.1 no such user"
    (alert,) = findings(1)
    write_alerts(producer, [alert, alert])
    there = {"email": "FAILED", "webhook": "SENT"}
    eventually(lambda: stands(lookouts.ledger_url, alert) == there, "the webhook is not told")
    first, followed = ids(alert, email=DESK, webhook=receiver.url)
    assert (relay.mailbox.taken()[first], receiver.came()[followed]) == (0, 1)
    told = json.loads(next(each.body for each in receiver.requests if each.key == followed))
    assert f"Fallback: email to {DESK} failed" in told["text"]
    assert "550" in told["text"]


@pytest.mark.usefixtures("programs")
def test_refused_by_the_webhook_too_the_next_is_told_once(
    lookouts: Lookouts,
    producer: Producer,
    relay: Relay,
    receiver: WebhookReceiver,
    kafka_bootstrap: str,
) -> None:
    relay.mailbox.on_content = "550 5.7.1 never"
    receiver.script = lambda number, key: NEVER
    (alert,) = findings(1)
    write_alerts(producer, [alert])
    there = {"email": "FAILED", "webhook": "FAILED", "bus": "SENT"}
    eventually(lambda: stands(lookouts.ledger_url, alert) == there, "the bus is not told")
    first, second, last = ids(alert, email=DESK, webhook=receiver.url, bus="notifications")
    assert (relay.mailbox.taken()[first], receiver.taken()[second]) == (0, 0)
    assert receiver.came()[second] == 1
    notified = Reader(kafka_bootstrap, ["notifications"])
    notified.wait_for([last])
    notified.close()
    assert Counter(notified.keys())[last] == 1
    decided = "SELECT decided FROM decisions WHERE alert_id = %s AND stage = 'fallback'"
    assert rows(lookouts.ledger_url, decided, alert.alert_id) == [("next",), ("next",)]
