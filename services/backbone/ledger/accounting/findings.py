"""What is known to be wrong: opened, ended, forgiven, and told to people."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from psycopg.rows import class_row, scalar_row, tuple_row
from psycopg.types.json import Json

from services.backbone.ledger.accounting.asking import ROWS_LIMIT, ask
from services.backbone.ledger.alerts.fallbacks import fallback_plan
from services.backbone.ledger.database import Connection, Pool, statements, transaction
from services.contracts.records import Delivery

RAISE_LIMIT: Final = 50_000
"""Most findings of one kind that are raised at once."""
NAMED_LIMIT: Final = 10
"""Findings that a message names; of others it tells how many."""

# The limit is of each kind: many of one would hide those of another, which then never end.
_OPEN_FINDINGS: Final = """
SELECT kind, subject, channel, detail, number, found_at_ms FROM (
  SELECT kind, subject, channel, detail, finding_id AS number,
    (extract(epoch FROM found_at) * 1000)::bigint AS found_at_ms,
    row_number() OVER (PARTITION BY kind ORDER BY finding_id) AS place
  FROM findings WHERE ended_at IS NULL AND (%(kind)s::text IS NULL OR kind = %(kind)s)
) AS open WHERE place <= %(limit)s ORDER BY number"""

_OPEN_COUNTS: Final = """
SELECT kind, count(*) FROM findings WHERE ended_at IS NULL GROUP BY kind"""

_KEEP: Final = """
WITH ended AS (
  UPDATE findings SET ended_at = ledger_now()
  WHERE finding_id = ANY(%(ended)s::bigint[]) AND ended_at IS NULL
)
INSERT INTO findings (kind, subject, channel, detail)
SELECT * FROM unnest(%(kinds)s::text[], %(subjects)s::text[], %(channels)s::text[],
  %(details)s::text[])
ON CONFLICT DO NOTHING"""

_FORGIVE: Final = """
WITH ended AS (
  UPDATE findings SET ended_at = ledger_now()
  WHERE ended_at IS NULL AND kind = ANY(%(kinds)s) AND subject = ANY(%(subjects)s)
  RETURNING kind, subject
), noted AS (
  INSERT INTO forgiven (kind, subject, person, reason)
  SELECT kind, subject, %(person)s, %(reason)s FROM ended ON CONFLICT DO NOTHING
)
SELECT subject FROM ended"""

_FORGIVEN: Final = """
SELECT kind, subject, person, reason, at FROM forgiven ORDER BY at DESC, subject LIMIT %(limit)s"""

# After a storm there are many: only their numbers are read, and the limit is of each kind, so that
# none waits until all of another kind are told.
_UNRAISED: Final = """
WITH due AS MATERIALIZED (
  SELECT kind FROM (
    SELECT DISTINCT kind FROM findings WHERE raised_at IS NULL AND ended_at IS NULL) AS open
  WHERE NOT EXISTS (SELECT FROM findings o WHERE o.kind = open.kind
    AND o.raised_at > ledger_now() - make_interval(secs => %(every)s))
), taken AS MATERIALIZED (
  SELECT each.* FROM due CROSS JOIN LATERAL (
    SELECT kind, channel, finding_id FROM findings f
    WHERE f.kind = due.kind AND raised_at IS NULL AND ended_at IS NULL
      AND NOT EXISTS (SELECT FROM forgiven g WHERE (g.kind, g.subject) = (f.kind, f.subject))
      AND found_at <= ledger_now() - make_interval(secs => %(settle)s)
    ORDER BY finding_id LIMIT %(limit)s FOR UPDATE SKIP LOCKED) AS each
)
SELECT kind, channel, array_agg(finding_id ORDER BY finding_id) FROM taken GROUP BY kind, channel"""

_NAMED: Final = """
SELECT kind, subject, channel, detail, finding_id AS number,
  (extract(epoch FROM found_at) * 1000)::bigint AS found_at_ms
FROM findings WHERE finding_id = ANY(%(numbers)s::bigint[])"""

_RAISE: Final = """
WITH alert AS (
  INSERT INTO alerts
    (alert_id, watch, severity, summary, record, routed_by, appended_at, detected_at)
  SELECT r ->> 'alert_id', r ->> 'watch', r ->> 'severity', r ->> 'summary', r, 'the accountant',
    ledger_now(), ledger_now()
  FROM (SELECT %(alert)s::jsonb AS r) AS given
), delivery AS (
  INSERT INTO deliveries (delivery_id, alert_id, channel, recipient, repetition, record, plan)
  SELECT r ->> 'delivery_id', r -> 'alert' ->> 'alert_id', r ->> 'channel', r ->> 'recipient', 0, r,
    %(plan)s::jsonb
  FROM (SELECT %(delivery)s::jsonb AS r) AS given
)
UPDATE findings SET raised_at = ledger_now(), raised_by = %(alert)s::jsonb ->> 'alert_id'
WHERE finding_id = ANY(%(numbers)s::bigint[])"""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, about one subject; its number and when it was found are the
    ledger's, 0 if not kept yet.
    """

    kind: str
    subject: str
    channel: str
    detail: str
    number: int = 0
    found_at_ms: int = 0


@dataclass(frozen=True, slots=True)
class Unraised:
    """Findings of one kind about one channel that nobody was told of: the numbers of all, in order,
    and the first ones.
    """

    kind: str
    channel: str
    numbers: Sequence[int]
    named: Sequence[Finding]


@dataclass(frozen=True, slots=True)
class Forgiven:
    """Something missing that a person has said will stay so."""

    kind: str
    subject: str
    person: str
    reason: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Notice:
    """One delivery that tells a person of findings; `instead` are channels and recipients that are
    told in sequence where it fails for good, or is tried and held.
    """

    delivery: Delivery
    numbers: tuple[int, ...]
    instead: tuple[tuple[str, str], ...] = ()


class Findings:
    """Keeps and tells; every method raises Transient while Postgres is away or too busy."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def open_findings(self, kind: str | None = None) -> list[Finding]:
        """Return what is known to be wrong, of one kind or of all, oldest first.

        Of each kind the oldest, at most so many as a turn looks at.
        """
        return ask(self._pool, class_row(Finding), _OPEN_FINDINGS, kind=kind, limit=ROWS_LIMIT)

    def open_counts(self) -> dict[str, int]:
        """Count all that is known to be wrong, by kind."""
        return dict(ask(self._pool, tuple_row, _OPEN_COUNTS))

    def keep(self, new: Sequence[Finding], ended: Sequence[Finding]) -> None:
        """Open findings and end others; what is open already is not opened again."""
        columns = {
            "kinds": [each.kind for each in new],
            "subjects": [each.subject for each in new],
            "channels": [each.channel for each in new],
            "details": [each.detail for each in new],
            "ended": [each.number for each in ended],
        }
        with statements(self._pool) as connection:
            connection.execute(_KEEP, columns)

    def forgive(
        self, kinds: Sequence[str], subjects: Sequence[str], *, person: str, reason: str
    ) -> set[str]:
        """End the open findings of these kinds and subjects for good, and note who said so and
        why, in one transaction; return the subjects of those that were open.
        """
        terms = {"kinds": list(kinds), "subjects": list(subjects)}
        return set(ask(self._pool, scalar_row, _FORGIVE, **terms, person=person, reason=reason))

    def forgiven(self, limit: int) -> list[Forgiven]:
        """Return what was forgiven, the newest first."""
        return ask(self._pool, class_row(Forgiven), _FORGIVEN, limit=limit)

    def raise_new(
        self,
        compose: Callable[[Sequence[Unraised]], Sequence[Notice]],
        *,
        settle_seconds: float,
        every_seconds: float,
    ) -> list[Notice]:
        """Record notices of findings that were not raised yet, in one transaction with the note
        that they are; no kind is raised more often than `every_seconds`.
        """
        terms = {"settle": settle_seconds, "every": every_seconds, "limit": RAISE_LIMIT}
        with transaction(self._pool) as connection:
            notices = list(compose(_unraised(connection, terms)))
            for notice in notices:
                connection.execute(_RAISE, _notice_terms(notice))
        return notices


def _unraised(connection: Connection, terms: Mapping[str, Any]) -> list[Unraised]:
    groups = connection.execute(_UNRAISED, terms).fetchall()
    first = [number for _, _, numbers in groups for number in numbers[:NAMED_LIMIT]]
    with connection.cursor(row_factory=class_row(Finding)) as cursor:
        found = cursor.execute(_NAMED, {"numbers": first}).fetchall()
    named = {each.number: each for each in found}
    return [
        Unraised(kind, channel, numbers, [named[number] for number in numbers[:NAMED_LIMIT]])
        for kind, channel, numbers in groups
    ]


def _notice_terms(notice: Notice) -> dict[str, Any]:
    return {
        "alert": notice.delivery.alert.encode().decode(),
        "delivery": notice.delivery.encode().decode(),
        "numbers": list(notice.numbers),
        "plan": Json(fallback_plan(notice.instead, on_held=bool(notice.instead))),
    }
