"""The SQL of what waits for evidence, for a person, or for a lookout beyond its time, by kind;
and of what nobody sends, by channel.

A kind's conditions stand once: the same rows are counted, listed, new, or no longer there.
OFFSET 0 keeps Postgres to one row at a time, by its key: however few rows it thinks there are, it
may not read all that waits anew for each finding, nor all findings for each that waits.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from services.backbone.ledger.alerts.fallbacks import UNDECIDED


@dataclass(frozen=True, slots=True)
class _Kind:
    """One kind: which rows it is, since when each waits, and how a finding names it."""

    name: str
    where: str
    table: str = "deliveries"
    since: str = "d.updated_at"
    columns: str = "d.channel, d.reason"
    subject: str = "d.delivery_id"
    key: str = "delivery_id = f.subject"

    def overdue(self, table: str) -> str:
        """Return its rows of a table, from FROM to the end of WHERE."""
        limit = f"make_interval(secs => %({self.name})s)"
        return f"FROM {table} d WHERE {self.where} AND {self.since} < ledger_now() - {limit}"


# The accountant's own messages are left out: it would have to tell of them by itself again.
_OWN: Final = """
  AND NOT EXISTS (SELECT FROM alerts o WHERE o.alert_id = d.alert_id AND o.watch = %(own)s)"""
# A failure that nobody follows has no other target, or its last one has failed too. Of a digest
# each alert counts.
_FAILED: Final = """d.state = 'FAILED'
  AND d.created_at > ledger_now() - make_interval(secs => %(since)s)
  AND (EXISTS (SELECT FROM alerts a
      WHERE a.alert_id = d.alert_id AND a.acknowledged_at IS NULL OFFSET 0)
    OR d.digest_id = d.delivery_id AND EXISTS (
      SELECT FROM deliveries m JOIN alerts x USING (alert_id)
      WHERE m.digest_id = d.delivery_id AND x.acknowledged_at IS NULL OFFSET 0))
  AND (coalesce(d.plan -> 'fallback', '[]') = '[]' OR EXISTS (
    SELECT FROM decisions e WHERE e.alert_id = d.alert_id AND e.delivery_id = d.delivery_id
    AND (e.stage, e.decided) = ('fallback', 'exhausted')))"""

_KINDS: Final = (
    _Kind("in_doubt", f"d.state = 'IN_DOUBT' {_OWN}"),
    _Kind("held", f"d.state = 'HELD' {_OWN}"),
    _Kind("suppressed", f"d.state = 'SUPPRESSED' {_OWN}", since="d.next_attempt_at"),
    _Kind("failed", f"{_FAILED} {_OWN}"),
    _Kind("unfollowed", f"{UNDECIDED} {_OWN}"),
    _Kind(
        "escalation",
        "d.state = 'WAITING'",
        table="escalations",
        since="d.due_at",
        columns="'' AS channel, 'nobody has acknowledged it' AS reason",
        subject="concat_ws('/', d.alert_id, d.name, d.step)",
        # Its alert alone first, by which the row is found.
        key="alert_id = split_part(f.subject, '/', 1)"
        " AND concat_ws('/', alert_id, name, step) = f.subject",
    ),
)


def _all(parts: Iterable[str]) -> str:
    return "\nUNION ALL ".join(f"({each})" for each in parts)


def _oldest(kind: _Kind, more: str = "") -> str:
    return f"""SELECT '{kind.name}' AS kind, {kind.subject} AS subject, {kind.columns},
  extract(epoch FROM ledger_now() - {kind.since})::float8 AS waited_seconds
{kind.overdue(kind.table)} {more} ORDER BY {kind.since} LIMIT %(limit)s"""  # noqa: S608 - no input in it


def _new(kind: _Kind) -> str:
    known = f"f.ended_at IS NULL AND f.kind = '{kind.name}' AND f.subject = {kind.subject}"
    return _oldest(kind, f"AND NOT EXISTS (SELECT FROM findings f WHERE {known} OFFSET 0)")


def _settled(kind: _Kind) -> str:
    row = f"(SELECT * FROM {kind.table} WHERE {kind.key} OFFSET 0)"  # noqa: S608 - no input in it
    return f"""SELECT f.kind, f.subject, f.channel, f.detail, f.finding_id AS number,
  (extract(epoch FROM f.found_at) * 1000)::bigint AS found_at_ms
FROM findings f WHERE f.ended_at IS NULL AND f.kind = '{kind.name}'
  AND NOT EXISTS (SELECT {kind.overdue(row)}) LIMIT %(limit)s"""  # noqa: S608 - no input in it


KINDS: Final = tuple(each.name for each in _KINDS)
OVERDUE: Final = _all(_oldest(each) for each in _KINDS)
# What is known is left out: as much of it as the limit would hide all that comes later.
NEW: Final = _all(_new(each) for each in _KINDS)
SETTLED: Final = _all(_settled(each) for each in _KINDS)
COUNTED: Final = _all(f"SELECT count(*) {each.overdue(each.table)}" for each in _KINDS)

BACKLOGS: Final = """
SELECT channel, count(*) AS count,
  max(extract(epoch FROM ledger_now() - since))::float8 AS longest_seconds
FROM (
  SELECT channel, next_attempt_at AS since FROM deliveries WHERE state IN ('PENDING', 'RETRY_WAIT')
  UNION ALL SELECT channel, lease_until FROM deliveries WHERE state = 'CLAIMED') AS due
WHERE since < ledger_now() - make_interval(secs => %(due)s)
GROUP BY channel"""
