"""A channel that a person has stopped sends nothing, and goes on where it was."""

import psycopg
import pytest

from services.backbone.ledger.deliveries.pauses import pause_on, resume_on
from services.contracts.states import State
from tests.integration.deliverer.conftest import Start
from tests.integration.deliverer.ledgers import Ledger
from tests.integration.deliverer.receivers import WebhookReceiver
from tests.integration.deliverer.waiting import until
from tests.unit.deliverer.builders import delivery

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]


def test_a_stopped_channel_waits_and_goes_on(
    start: Start, ledger: Ledger, receiver: WebhookReceiver
) -> None:
    before, meanwhile = (delivery(number, recipient=receiver.url) for number in (1, 2))
    ledger.add(before)
    program = start("webhook")
    until(lambda: ledger.states()[before.delivery_id] == State.SENT, "the first is sent")
    with psycopg.connect(ledger.url) as connection:
        assert pause_on(connection, "webhook", "ann", "the desk moves")
        assert not pause_on(connection, "webhook", "bob", "twice")
        assert pause_on(connection, "email", "ann", "another channel")
    until(lambda: program.metric("aldebaran_deliverer_paused") == 1, "it heeds the stop")
    ledger.add(meanwhile)
    until(lambda: program.metric("aldebaran_deliverer_due") == 1, "it sees what is due")
    assert ledger.row(meanwhile)["state"] == State.PENDING
    with psycopg.connect(ledger.url) as connection:
        assert resume_on(connection, "webhook")
    until(lambda: ledger.states()[meanwhile.delivery_id] == State.SENT, "it goes on")
    assert set(receiver.came().values()) == {1}
