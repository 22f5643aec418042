"""Deliveries made after an alert was recorded: by an escalation, or after a failure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from services.backbone.ledger.database import Connection
from services.backbone.ledger.intake import NewDelivery, json_array, plan_json
from services.backbone.portions import portions

INSERT_LIMIT_BYTES: Final = 4 * 1024 * 1024
"""Most bytes of messages that one statement carries: Postgres takes 256 MiB as one array."""

_INSERT: Final = """
INSERT INTO deliveries (delivery_id, alert_id, channel, recipient, repetition, record, plan,
  state, next_attempt_at, reason, suppressed_by, group_key, group_limit)
SELECT record ->> 'delivery_id', record -> 'alert' ->> 'alert_id', record ->> 'channel',
  record ->> 'recipient', (record ->> 'repetition')::integer, record, plan -> 'plan',
  CASE WHEN plan ? 'until' THEN 'SUPPRESSED' ELSE 'PENDING' END,
  coalesce((plan ->> 'until')::timestamptz, ledger_now()), coalesce(plan ->> 'why', ''),
  plan ->> 'by', plan ->> 'group_key', (plan ->> 'group_limit')::integer
FROM ROWS FROM (jsonb_array_elements(%s::jsonb), jsonb_array_elements(%s::jsonb))
  AS given (record, plan)
ON CONFLICT DO NOTHING RETURNING delivery_id
"""
# As acknowledging and escalations lock them; in one sequence, so that no two wait for each other.
_LOCK: Final = "SELECT FROM alerts WHERE alert_id = ANY(%s) ORDER BY alert_id FOR NO KEY UPDATE"
_TOLD: Final = """
SELECT alert_id, channel, recipient, max(repetition) FROM deliveries
WHERE alert_id = ANY(%s) GROUP BY alert_id, channel, recipient
"""


@dataclass(slots=True)
class Numbers:
    """The next repetition number per alert, channel and recipient; only under the alerts' locks."""

    last: dict[tuple[str, str, str], int] = field(default_factory=dict)

    def next(self, alert_id: str, channel: str, recipient: str) -> int:
        """Return the number of one more message to this recipient, from 0, and count it."""
        key = (alert_id, channel, recipient)
        self.last[key] = self.last.get(key, -1) + 1
        return self.last[key]


def lock(connection: Connection, alert_ids: Sequence[str]) -> None:
    """Let nobody else make messages of these alerts until the transaction ends."""
    connection.execute(_LOCK, (list(alert_ids),))


def numbers(connection: Connection, alert_ids: Sequence[str]) -> Numbers:
    """Read which repetitions the alerts have."""
    rows = connection.execute(_TOLD, (list(alert_ids),))
    return Numbers({(row[0], row[1], row[2]): row[3] for row in rows})


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
