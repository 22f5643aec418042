"""Rows for tests, each with a default for all that does not matter."""

from datetime import UTC, datetime, timedelta

import psycopg
from psycopg.types.json import Jsonb

from services.contracts.ids import alert_id, delivery_id
from services.contracts.records import Severity
from services.contracts.states import State

START = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)


def seconds(after: float) -> datetime:
    """Return a time so many seconds after the start."""
    return START + timedelta(seconds=after)


def add_alert(
    url: str,
    name: str,
    *,
    accepted: float = 0.01,
    summary: str = "Something happened",
    record: dict[str, object] | None = None,
    severity: Severity = Severity.CRITICAL,
) -> str:
    """Add an alert about the key `name`, appended at the start; return its id."""
    made = alert_id("watch", [name])
    whole = {"key": {"name": name}, "auditor": "a", "event_ids": []} | (record or {})
    with psycopg.connect(url) as connection:
        connection.execute(
            "INSERT INTO alerts (alert_id, watch, severity, summary, record, routed_by,"
            " appended_at, detected_at, accepted_at) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)",
            (made, "watch", severity.value, summary, Jsonb(whole), "first, second",
             START, seconds(0.004), seconds(accepted)),
        )  # fmt: skip
    return made


def add_delivery(
    url: str,
    alert: str,
    *,
    recipient: str = "desk@example.org",
    state: State = State.PENDING,
    created: float = 0.01,
    reason: str = "",
    channel: str = "email",
) -> str:
    """Add a delivery of an alert; return its id."""
    made = delivery_id(alert, channel, recipient)
    with psycopg.connect(url) as connection:
        connection.execute(
            "INSERT INTO deliveries (delivery_id, alert_id, channel, recipient, record, state,"
            " created_at, reason) VALUES (%s, %s, %s, %s, '{}', %s, %s, %s)",
            (made, alert, channel, recipient, state.value, seconds(created), reason),
        )
    return made


def add_attempt(
    url: str, delivery: str, number: int, claimed: float, finished: float | None, outcome: str
) -> None:
    """Add a try of a delivery."""
    with psycopg.connect(url) as connection:
        connection.execute(
            "INSERT INTO attempts (delivery_id, attempt, fence, owner, claimed_at, finished_at,"
            " outcome, provider_id) VALUES (%s, %s, %s, 'owner', %s, %s, %s, '250 kept')",
            (delivery, number, number, seconds(claimed),
             None if finished is None else seconds(finished), outcome),
        )  # fmt: skip
