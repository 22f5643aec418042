"""Alerts that no other test has, and what must become of them under the shipped routes."""

import time
import uuid
from typing import Any

import psycopg

from services.contracts.ids import alert_id, delivery_id
from services.contracts.records import Alert
from tests.integration.lookout.processes import eventually
from tests.unit.lookout.samples import sample

WATCH = "over-heat"


def findings(count: int) -> list[Alert]:
    """Return alerts that no other test has; the shipped routes send each to the bus.

    Detected now: real programs, with real clocks, do not send what is too old.
    """
    name, now_ms = uuid.uuid4().hex, time.time_ns() // 1_000_000
    found: dict[str, Any] = {"watch": WATCH, "key": {"id": name}, "detected_at_ms": now_ms}
    return [
        sample(alert_id=alert_id(WATCH, [name, str(each)]), appended_at_ms=now_ms - 3, **found)
        for each in range(count)
    ]


def wanted(alerts: list[Alert]) -> set[str]:
    """Return the ids of their deliveries."""
    return {delivery_id(alert.alert_id, "bus", "notifications") for alert in alerts}


def ledger_counts(ledger_url: str, alerts: list[Alert]) -> tuple[int, int, int]:
    """Return alerts, deliveries, and deliveries in the outbox."""
    ids = [alert.alert_id for alert in alerts]
    query = """
        SELECT (SELECT count(*) FROM alerts WHERE alert_id = ANY(%(ids)s)), count(*),
          count(*) FILTER (WHERE published_at IS NULL)
        FROM deliveries WHERE alert_id = ANY(%(ids)s)"""
    with psycopg.connect(ledger_url) as connection:
        row = connection.execute(query, {"ids": ids}).fetchone()
    assert row is not None
    return row[0], row[1], row[2]


def wait_until_recorded(ledger_url: str, alerts: list[Alert]) -> None:
    """Return when each of these has one row, and one delivery that is published and marked."""
    count = len(alerts)
    eventually(
        lambda: ledger_counts(ledger_url, alerts) == (count, count, 0), "not recorded and marked"
    )
