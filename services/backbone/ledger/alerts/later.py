"""Deliveries made after an alert was recorded: by an escalation, or after a failure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

import orjson

from services.backbone.ledger.alerts.intake import (
    NEW_DELIVERIES,
    NewDelivery,
    json_array,
    plan_json,
)
from services.backbone.ledger.database import Connection
from services.backbone.portions import portions

INSERT_LIMIT_BYTES: Final = 4 * 1024 * 1024
"""Most bytes of messages that one statement carries: Postgres takes 256 MiB as one array."""

_INSERT: Final = f"""
{NEW_DELIVERIES.format(alert_id="record -> 'alert' ->> 'alert_id'")}
ON CONFLICT DO NOTHING RETURNING delivery_id
"""
# As acknowledging and escalations lock them; in one sequence, so that no two wait for each other.
_LOCK: Final = "SELECT FROM alerts WHERE alert_id = ANY(%s) ORDER BY alert_id FOR NO KEY UPDATE"
# What was tried waits for its next try besides, and what waits for its group goes later than that.
# An old one may be too old to be sent by the time the wait ends.
_EARLIER: Final = """
SELECT alert_id, channel, recipient, max(repetition), coalesce(jsonb_agg(plan)
  FILTER (WHERE state = 'SUPPRESSED' AND group_key IS NULL AND attempt = 0
    AND created_at > ledger_now() - %(young)s), '[]')
FROM deliveries WHERE alert_id = ANY(%(alert_ids)s) GROUP BY alert_id, channel, recipient
"""

To = tuple[str, str, str]
"""Alert, channel and recipient."""


@dataclass(slots=True)
class Earlier:
    """The messages that were made of alerts so far; read and made only under the alerts' locks."""

    last: dict[To, int] = field(default_factory=dict)
    """The greatest repetition number."""
    waiting: dict[To, list[dict[str, Any]]] = field(default_factory=dict)
    """The plans of young ones that a silence, an inhibition or quiet hours hold back, untried."""

    def next(self, to: To) -> int:
        """Return the number that one more message to this recipient has, from 0."""
        return self.last.get(to, -1) + 1

    def add(self, made: NewDelivery) -> None:
        """Count a message that is made now."""
        told = made.delivery
        to = (told.alert.alert_id, told.channel, told.recipient)
        self.last[to] = told.repetition
        if made.suppression is not None and made.suppression.group_key is None:
            self.waiting.setdefault(to, []).append(orjson.loads(made.plan))


def lock(connection: Connection, alert_ids: Sequence[str]) -> None:
    """Let nobody else make messages of these alerts until the transaction ends."""
    connection.execute(_LOCK, (list(alert_ids),))


def earlier(connection: Connection, alert_ids: Sequence[str], young: timedelta) -> Earlier:
    """Read what was made of alerts; what is older than `young` waits, and stands for no other."""
    found = Earlier()
    rows = connection.execute(_EARLIER, {"alert_ids": list(alert_ids), "young": young})
    for alert_id, channel, recipient, last, waiting in rows:
        to = (alert_id, channel, recipient)
        found.last[to], found.waiting[to] = last, waiting
    return found


def insert(connection: Connection, deliveries: Iterable[NewDelivery]) -> set[str]:
    """Record deliveries of alerts that are recorded; return the ids that were not there yet."""
    return {
        each
        for part in portions(deliveries, _size, INSERT_LIMIT_BYTES)
        for each in _insert(connection, part)
    }


def _insert(connection: Connection, part: Sequence[NewDelivery]) -> Iterator[str]:
    records = json_array(each.encoded for each in part)
    terms = (records, json_array(plan_json(each) for each in part))
    return (row[0] for row in connection.execute(_INSERT, terms))


def _size(new: NewDelivery) -> int:
    return len(new.encoded) + len(new.plan)
