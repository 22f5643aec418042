"""An outcome that Postgres has forgotten, as one can after a failover without synchronous copies,
leaves a doubt: whoever sent knows that it did."""

import pytest

from services.contracts.records import Delivery
from services.contracts.states import State
from tests.integration.deliverer.conftest import Start
from tests.integration.deliverer.ledgers import Ledger
from tests.integration.deliverer.receivers import WebhookReceiver
from tests.integration.deliverer.waiting import until
from tests.unit.deliverer.builders import delivery

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]


@pytest.fixture
def one(start: Start, ledger: Ledger, receiver: WebhookReceiver) -> Delivery:
    """One that a running deliverer has sent."""
    start("webhook")
    one = delivery(1, recipient=receiver.url)
    ledger.add(one)
    until(lambda: ledger.row(one)["state"] == State.SENT, "sent")
    return one


def forget_outcomes(ledger: Ledger) -> None:
    """Let the ledger be as it was when all were claimed, with a little left of their leases."""
    ledger.execute(
        "UPDATE deliveries SET state = 'CLAIMED', lease_until = ledger_now() + interval '3 s'"
    )
    ledger.execute("UPDATE attempts SET outcome = NULL, finished_at = NULL")


def test_what_was_sent_and_forgotten_is_in_doubt_and_not_sent_again(
    one: Delivery, ledger: Ledger, receiver: WebhookReceiver
) -> None:
    forget_outcomes(ledger)
    until(lambda: ledger.row(one)["state"] != State.CLAIMED, "seen by a sweep")
    until(lambda: ledger.row(one)["state"] == State.HELD, "held for a person")
    assert receiver.came()[one.delivery_id] == 1


def test_a_claim_that_is_forgotten_with_its_outcome_is_not_sent_again(
    one: Delivery, ledger: Ledger, receiver: WebhookReceiver
) -> None:
    ledger.execute("DELETE FROM attempts")
    ledger.execute(
        "UPDATE deliveries SET state = 'PENDING', fence = fence - 1, attempt = attempt - 1,"
        " owner = NULL, lease_until = NULL, next_attempt_at = ledger_now()"
    )
    until(lambda: ledger.row(one)["state"] != State.PENDING, "claimed again")
    ledger.execute("UPDATE deliveries SET lease_until = ledger_now() WHERE state = 'CLAIMED'")
    until(lambda: ledger.row(one)["state"] in (State.SENT, State.HELD), "settled")
    assert receiver.came()[one.delivery_id] == 1
    assert ledger.row(one)["state"] == State.HELD
