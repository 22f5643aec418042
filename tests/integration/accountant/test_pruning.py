"""Old alerts go with all that is known of them, and are never told again if they come back."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from services.backbone.ledger.accounting.pruning import PRUNED_FOR_EACH_LIMIT, Pruning
from services.backbone.ledger.alerts.intake import Intake, NewAlert, NewDelivery
from services.backbone.ledger.database import Pool, async_pool, open_pool
from services.backbone.ledger.deliveries.claims import Claims
from services.backbone.ledger.deliveries.evidence import Evidence, EvidenceBook, EvidenceKind
from services.backbone.ledger.deliveries.sweeps import Sweeps
from services.backbone.settings import LedgerSettings
from services.contracts.records import Delivery
from services.contracts.states import State
from tests.integration.deliverer.ledgers import Ledger
from tests.unit.deliverer.builders import delivery

pytestmark = pytest.mark.postgres

DAY = 86_400.0


@pytest.fixture
def ledger(ledger_url: str) -> Iterator[Ledger]:
    with closing(Ledger(ledger_url)) as made:
        yield made


@pytest.fixture
def pool(ledger: Ledger) -> Iterator[Pool]:
    with open_pool(LedgerSettings.model_validate({"postgres_url": ledger.url})) as pool:
        yield pool


def aged(ledger: Ledger, days: int) -> None:
    ledger.execute("UPDATE alerts SET accepted_at = now() - make_interval(days => %s)", days)


def sent_to_many(ledger: Ledger, recipients: int) -> None:
    """Have each alert of one delivery be an old one that was sent to so many."""
    ledger.execute(
        "INSERT INTO deliveries (delivery_id, alert_id, channel, recipient, record)"
        " SELECT delivery_id || n, alert_id, channel, 'recipient ' || n, '{}'"
        " FROM deliveries, generate_series(2, %s) AS n",
        recipients,
    )
    ledger.execute("UPDATE deliveries SET state = 'SENT'")
    aged(ledger, 401)


def test_everything_that_refers_to_an_alert_goes_with_it(ledger: Ledger) -> None:
    kept = ledger.rows(
        "SELECT conrelid::regclass::text AS referring FROM pg_constraint"
        " WHERE contype = 'f' AND confdeltype <> 'c'"
    )
    assert kept == [], "say ON DELETE CASCADE, or the accountant cannot remove old alerts"


def test_the_oldest_go_first_and_what_is_open_stays(ledger: Ledger, pool: Pool) -> None:
    done = [delivery(number) for number in range(3)]
    waiting, fresh = delivery(3), delivery(4)
    ledger.add(*done, waiting)
    ledger.execute("UPDATE deliveries SET state = 'SENT'")
    ledger.execute(
        "UPDATE deliveries SET state = 'HELD' WHERE delivery_id = %s", waiting.delivery_id
    )
    EvidenceBook(pool).give([Evidence(done[0].delivery_id, EvidenceKind.CONFIRMED, "test")])
    aged(ledger, 401)
    ledger.add(fresh)
    pruning = Pruning(pool)
    assert [pruning.prune(400 * DAY, 2) for _ in range(3)] == [2, 1, 0]
    assert ledger.states().keys() == {waiting.delivery_id, fresh.delivery_id}
    assert ledger.rows("SELECT * FROM evidence") == []


def test_of_alerts_for_many_fewer_go_at_once(ledger: Ledger, pool: Pool) -> None:
    ledger.add(*(delivery(number) for number in range(4)))
    sent_to_many(ledger, PRUNED_FOR_EACH_LIMIT * 50)
    pruning = Pruning(pool)
    assert [pruning.prune(400 * DAY, 100) for _ in range(3)] == [2, 2, 0]


def test_one_for_more_than_that_goes_bit_by_bit(ledger: Ledger, pool: Pool) -> None:
    """However many it has: what takes too long at once is never done."""
    ledger.add(delivery(1), delivery(2))
    sent_to_many(ledger, 3 * PRUNED_FOR_EACH_LIMIT)
    pruning = Pruning(pool)
    left = []
    while ledger.rows("SELECT alert_id FROM alerts"):
        left.append((len(ledger.states()), pruning.prune(400 * DAY, 2)))
    assert left == [(60, 0), (40, 1), (20, 1)]


async def test_a_replay_after_that_is_held(ledger: Ledger, pool: Pool) -> None:
    one = old(delivery(1))
    ledger.add(one)
    ledger.execute("UPDATE deliveries SET state = 'SENT'")
    aged(ledger, 401)
    assert Pruning(pool).prune(400 * DAY, 10) == 1
    new = NewDelivery(one, one.encode())
    accepted = Intake(pool).accept([NewAlert(one.alert, one.alert.encode(), "test", (new,))])
    assert accepted.new == {one.alert.alert_id}
    terms: dict[str, Any] = {"channel": "webhook", "owner": "me", "age_limit_seconds": 7 * DAY}
    settings = LedgerSettings.model_validate({"postgres_url": ledger.url})
    async with async_pool(settings) as deliverers:
        claims = Claims(deliverers, **terms, lease_seconds=60.0)
        assert await claims.by_id([one.delivery_id], 1) == []
        await Sweeps(deliverers, **terms).too_old()
    assert ledger.states() == {one.delivery_id: State.HELD}


def old(one: Delivery) -> Delivery:
    found_at_ms = one.alert.detected_at_ms - int(401 * DAY * 1000)
    alert = one.alert.model_copy(update={"detected_at_ms": found_at_ms})
    return one.model_copy(update={"alert": alert})
