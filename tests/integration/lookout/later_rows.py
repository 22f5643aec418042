"""Alerts with deliveries and steps in a ledger whose clock a test moves."""

from datetime import datetime
from typing import Any

import orjson
import psycopg

from services.backbone.ledger.alerts.intake import Intake, NewAlert, NewDelivery
from services.backbone.ledger.alerts.steps import NewStep
from services.backbone.ledger.database import Pool
from services.contracts.ids import delivery_id
from services.contracts.records import Alert, Delivery

WAITS_FOR_A_LOCK = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND wait_event_type = 'Lock'
"""


def message(
    alert: Alert, channel: str, recipient: str, number: int = 0, plan: dict[str, Any] | None = None
) -> NewDelivery:
    """Return a delivery of an alert."""
    delivery = Delivery(
        delivery_id=delivery_id(alert.alert_id, channel, recipient, number),
        channel=channel,
        recipient=recipient,
        repetition=number,
        subject=alert.summary,
        text=alert.summary,
        created_at_ms=1,
        alert=alert,
    )
    return NewDelivery(delivery, delivery.encode(), orjson.dumps(plan or {}))


def record(
    pool: Pool, alert: Alert, *deliveries: NewDelivery, steps: tuple[NewStep, ...] = ()
) -> None:
    """Record an alert with what belongs to it."""
    Intake(pool).accept([NewAlert(alert, alert.encode(), "r", deliveries, steps=steps)])


def step(number: int, after_seconds: float, name: str = "desk") -> NewStep:
    """Return a step that a test decides about by itself."""
    return NewStep(name, number, after_seconds, orjson.dumps({"number": number}))


def set_clock(url: str, at: datetime) -> None:
    """Set the ledger's clock for every connection made from now on."""
    name = url.rpartition("/")[2]
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {name} SET aldebaran.now = '{at.isoformat()}'".encode())


def rows(url: str, question: str, *terms: Any) -> list[tuple[Any, ...]]:
    """Ask the ledger."""
    with psycopg.connect(url) as connection:
        return connection.execute(question.encode(), terms).fetchall()
