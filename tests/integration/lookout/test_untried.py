"""Held deliveries that were never tried stay as they are; they hide none that failed."""

from typing import Any

import psycopg
import pytest

from services.backbone.ledger.accounting import overdue_sql
from services.backbone.ledger.accounting.asking import ROWS_LIMIT
from services.backbone.ledger.alerts.fallbacks import LOST
from services.backbone.ledger.database import Pool
from services.contracts.watches import ACCOUNTANT
from tests.integration.lookout.later_rows import message, record
from tests.unit.lookout.samples import sample

pytestmark = pytest.mark.postgres

UNTRIED = """
INSERT INTO deliveries (delivery_id, alert_id, channel, recipient, record, state, plan, updated_at)
SELECT md5(n::text), %s, 'email', n || '@example.com', '{}', 'HELD',
  '{"fallback": [{"channel": "sms", "recipient": "+491701"}], "fallback_on": "held"}',
  ledger_now() - interval '2 days'
FROM generate_series(1, 5000) AS n"""
FAIL = "UPDATE deliveries SET state = 'FAILED', attempt = 1 WHERE channel = 'sms'"
FALLBACK = {"fallback": [{"channel": "email", "recipient": "a@example.com"}]}


@pytest.fixture
def url(pool: Pool, ledger_url: str) -> str:
    """A ledger with one failure, younger than very many that are held untried."""
    alert = sample()
    record(pool, alert, message(alert, "sms", "+491702", plan=FALLBACK))
    with psycopg.connect(ledger_url, autocommit=True) as connection:
        connection.execute(UNTRIED, (alert.alert_id,))
        connection.execute(FAIL)
        connection.execute("ANALYZE deliveries")
    return ledger_url


def parts(plan: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a plan's nodes, each before those below it."""
    return [plan, *(each for below in plan.get("Plans", ()) for each in parts(below))]


def explained(url: str, question: str, terms: Any) -> list[dict[str, Any]]:
    with psycopg.connect(url) as connection:
        explain = f"EXPLAIN (ANALYZE, FORMAT JSON) {question}"
        ((found,),) = connection.execute(explain.encode(), terms).fetchall()
    return parts(found[0]["Plan"])


def test_a_failure_is_taken_without_a_look_at_them(url: str) -> None:
    plan = explained(url, LOST, (20,))
    assert plan[0]["Actual Rows"] == 1
    assert sum(each.get("Rows Removed by Filter", 0) for each in plan) == 0


def test_a_failure_that_nobody_follows_is_found_without_a_look_at_them(url: str) -> None:
    limits = dict.fromkeys(overdue_sql.KINDS, 0)
    terms = limits | {"since": 60, "limit": ROWS_LIMIT, "own": ACCOUNTANT}
    plan = explained(url, overdue_sql.OVERDUE, terms)
    used = [each["Index Name"] for each in plan if "Index Name" in each]
    assert "deliveries_lost" in used
    assert "deliveries_fallback" not in used
