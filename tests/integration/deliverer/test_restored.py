"""A ledger of yesterday: what was sent since stands in it as not sent, or not at all."""

from collections import Counter
from contextlib import closing

import pytest

from services.backbone.ledger.operators.words import RESEND, Word, give
from services.backbone.settings import LedgerSettings
from services.contracts.records import Delivery
from services.contracts.states import State
from tests.integration.deliverer.conftest import Start
from tests.integration.deliverer.ledgers import Ledger
from tests.integration.deliverer.receivers import WebhookReceiver
from tests.integration.deliverer.waiting import until
from tests.postgres import database_like
from tests.unit.deliverer.builders import FOUND_AT_MS, delivery

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]

DAY_MS = 86_400_000


def test_with_an_age_limit_a_restored_ledger_sends_nothing_again(
    start: Start, ledger: Ledger, receiver: WebhookReceiver, postgres_url: str
) -> None:
    waiting = [a_day_old(n, receiver.url) for n in range(10)]
    since = [a_day_old(n, receiver.url) for n in range(10, 20)]
    new = [delivery(n, recipient=receiver.url) for n in range(20, 30)]
    ledger.add(*waiting)
    have_been_resent(ledger, *waiting[:5])
    ledger.close()
    with database_like(ledger.name, postgres_url) as copy, closing(Ledger(copy)) as backup:
        ledger.add(*since)
        before = start("webhook")
        until(lambda: set(ledger.states().values()) == {State.SENT}, "all sent")
        assert before.end() == 0

        backup.add(*since, *new)  # as the lookout does that reads all alerts again
        start("webhook", postgres_url=backup.url, age_limit_hours=12)
        expected = {each.delivery_id: State.HELD for each in (*waiting, *since)}
        expected |= {each.delivery_id: State.SENT for each in new}
        until(lambda: backup.states() == expected, "old ones held, new ones sent")
        assert receiver.came() == Counter(expected.keys())
        reasons = {row["reason"] for row in backup.rows() if row["state"] == State.HELD}
        assert reasons == {"too old to be sent without a person's word"}

        asked = (waiting[0], waiting[5], since[0])
        resend(backup, *asked)
        expected |= {each.delivery_id: State.SENT for each in asked}
        until(lambda: backup.states() == expected, "what a person asks for now is sent")
        again = Counter(each.delivery_id for each in asked)
        assert receiver.came() == Counter(expected.keys()) + again


def have_been_resent(ledger: Ledger, *deliveries: Delivery) -> None:
    """Let deliveries have been held, and a person have sent them again, some time ago."""
    ids = [each.delivery_id for each in deliveries]
    ledger.execute("UPDATE deliveries SET state = 'HELD' WHERE delivery_id = ANY(%s)", ids)
    resend(ledger, *deliveries)
    ledger.execute("UPDATE words SET given_at = given_at - interval '20 hours'")


def resend(ledger: Ledger, *deliveries: Delivery) -> None:
    """Have a person send again what is held."""
    settings = LedgerSettings.model_validate({"postgres_url": ledger.url})
    for each in deliveries:
        give(settings, Word(each.delivery_id, RESEND, "ann", "the provider is back"))


def a_day_old(number: int, recipient: str) -> Delivery:
    one = delivery(number, recipient=recipient)
    alert = one.alert.model_copy(update={"detected_at_ms": FOUND_AT_MS - DAY_MS})
    return one.model_copy(update={"alert": alert})
