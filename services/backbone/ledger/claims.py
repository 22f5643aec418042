"""Claims: the right to send, committed before the first byte leaves, and what became of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from psycopg.rows import kwargs_row, scalar_row, tuple_row

from services.backbone.ledger.database import AsyncPool
from services.backbone.ledger.statements import fetch_all
from services.contracts.states import State


@dataclass(frozen=True, slots=True)
class Claim:
    """One delivery that this owner alone may send, once, until its lease is over."""

    delivery_id: str
    alert_id: str
    channel: str
    recipient: str
    record: str
    before: State
    attempt: int
    fence: int
    marked_repeat: bool


@dataclass(frozen=True, slots=True)
class Settlement:
    """What one claim came to: the first and last state of its path, and that of a late answer."""

    delivery_id: str
    fence: int
    outcome: State
    after: State
    late_after: State | None
    retry_in_seconds: float = 0.0
    reason: str = ""
    provider_id: str = ""


@dataclass(frozen=True, slots=True)
class Due:
    """Which due deliveries to claim, longest overdue first."""

    limit: int
    only: Sequence[str] | None = None
    """Recipients to take, or None for all."""
    without: Sequence[str] = ()
    """Recipients to leave alone."""


_CLAIM: Final = """
WITH due AS (
  SELECT delivery_id, state AS before FROM deliveries
  WHERE channel = %(channel)s AND state IN ('PENDING', 'RETRY_WAIT')
    AND next_attempt_at <= ledger_now()
    AND (least(created_at, alerted_at) > ledger_now() - make_interval(secs => %(age_limit)s)
      OR EXISTS (SELECT FROM words w WHERE w.delivery_id = deliveries.delivery_id))
    AND NOT EXISTS (SELECT FROM evidence e
      WHERE e.delivery_id = deliveries.delivery_id AND e.weighed_at IS NULL)
    AND {choice}
  LIMIT %(limit)s FOR UPDATE SKIP LOCKED
), claimed AS (
  UPDATE deliveries d SET state = 'CLAIMED', fence = d.fence + 1, attempt = d.attempt + 1,
    owner = %(owner)s, lease_until = ledger_now() + make_interval(secs => %(lease)s),
    updated_at = ledger_now()
  FROM due
  WHERE d.delivery_id = due.delivery_id AND d.state IN ('PENDING', 'RETRY_WAIT')
  RETURNING d.delivery_id, d.alert_id, d.channel, d.recipient, d.record::text AS record, due.before,
    d.attempt, d.fence, d.marked_repeat
), tried AS (
  INSERT INTO attempts (delivery_id, attempt, fence, owner, claimed_at)
  SELECT delivery_id, attempt, fence, %(owner)s, ledger_now() FROM claimed
)
SELECT * FROM claimed"""

_CLAIM_BY_ID: Final = _CLAIM.format(choice="delivery_id = ANY(%(ids)s)")
_CLAIM_DUE: Final = _CLAIM.format(
    choice="(%(only)s::text[] IS NULL OR recipient = ANY(%(only)s))"
    " AND recipient <> ALL(%(without)s::text[]) ORDER BY next_attempt_at"
)

_SETTLE: Final = """
WITH told AS (
  SELECT * FROM unnest(%(ids)s::text[], %(fences)s::bigint[], %(outcomes)s::text[],
    %(afters)s::text[], %(lates)s::text[], %(waits)s::float8[], %(reasons)s::text[],
    %(provider_ids)s::text[])
  AS t(delivery_id, fence, outcome, after, late_after, wait, reason, provider_id)
), mine AS (
  SELECT d.delivery_id, d.state AS before FROM deliveries d JOIN told t USING (delivery_id)
  WHERE d.fence = t.fence AND d.owner = %(owner)s
    AND (d.state = 'CLAIMED' OR (d.state = 'IN_DOUBT' AND t.late_after IS NOT NULL))
  ORDER BY d.delivery_id FOR UPDATE OF d
), moved AS (
  UPDATE deliveries d
  SET state = CASE mine.before WHEN 'CLAIMED' THEN t.after ELSE t.late_after END,
    lease_until = NULL, reason = t.reason,
    provider_id = CASE t.provider_id WHEN '' THEN d.provider_id ELSE t.provider_id END,
    next_attempt_at = ledger_now() + make_interval(secs => t.wait), updated_at = ledger_now()
  FROM told t JOIN mine USING (delivery_id)
  WHERE d.delivery_id = t.delivery_id AND d.fence = t.fence AND d.state = mine.before
  RETURNING d.delivery_id, mine.before
), finished AS (
  UPDATE attempts a SET finished_at = ledger_now(), outcome = t.outcome, reason = t.reason,
    provider_id = t.provider_id
  FROM told t
  WHERE a.delivery_id = t.delivery_id AND a.fence = t.fence AND a.owner = %(owner)s
    AND (a.outcome IS NULL OR a.outcome = 'IN_DOUBT')
), late AS (
  INSERT INTO evidence (delivery_id, kind, source, provider_id, attempt, detail)
  SELECT t.delivery_id, 'TAKEN', 'answer', t.provider_id, a.attempt, 'answered late'
  FROM told t JOIN deliveries d USING (delivery_id)
  JOIN attempts a ON a.delivery_id = t.delivery_id AND a.fence = t.fence AND a.owner = %(owner)s
  WHERE t.outcome = 'SENT' AND NOT EXISTS (SELECT FROM mine WHERE delivery_id = t.delivery_id)
    AND d.state NOT IN ('SENT', 'CONFIRMED', 'FAILED', 'CLOSED')
  ON CONFLICT DO NOTHING
)
SELECT delivery_id, before FROM moved"""

_PRESENT: Final = (
    "SELECT delivery_id FROM deliveries WHERE delivery_id = ANY(%(ids)s) AND channel = %(channel)s"
)


class Claims:
    """Claims and settles deliveries of one channel for one owner.

    The owner's name must be new with every start of a program: an earlier run's claims are
    foreign. All methods raise Transient while Postgres is away.
    """

    def __init__(
        self,
        pool: AsyncPool,
        *,
        channel: str,
        owner: str,
        lease_seconds: float,
        age_limit_seconds: float,
    ) -> None:
        self._pool = pool
        self._terms = {
            "channel": channel,
            "owner": owner,
            "lease": lease_seconds,
            "age_limit": age_limit_seconds,
        }

    async def by_id(self, delivery_ids: Sequence[str], limit: int) -> list[Claim]:
        """Claim those of the deliveries that are due, at most `limit`.

        If it raises, some may be claimed although nobody will send them: see Sweeps.unsent.
        """
        terms = self._terms | {"ids": list(delivery_ids), "limit": limit}
        return await fetch_all(self._pool, kwargs_row(_claim), _CLAIM_BY_ID, terms)

    async def due(self, due: Due) -> list[Claim]:
        """Claim due deliveries; the same caution as in `by_id`."""
        only = None if due.only is None else list(due.only)
        terms = self._terms | {"limit": due.limit, "only": only, "without": list(due.without)}
        return await fetch_all(self._pool, kwargs_row(_claim), _CLAIM_DUE, terms)

    async def present(self, delivery_ids: Sequence[str]) -> set[str]:
        """Return which of the ids are deliveries of this channel, in whatever state."""
        terms = self._terms | {"ids": list(delivery_ids)}
        return set(await fetch_all(self._pool, scalar_row, _PRESENT, terms))

    async def settle(self, settlements: Sequence[Settlement]) -> dict[str, State]:
        """Record outcomes; return the state before, by id, of those rows that moved.

        Moves rows that this owner's claim still fences: from CLAIMED, or from IN_DOUBT where the
        late answer is evidence. An acceptance that comes later still is kept as evidence, to be
        weighed. The attempt's own row keeps the outcome, unless evidence has settled it before.
        """
        terms = self._terms | _columns(settlements)
        rows = await fetch_all(self._pool, tuple_row, _SETTLE, terms)
        return {delivery_id: State(before) for delivery_id, before in rows}


def _claim(**row: Any) -> Claim:
    return Claim(**row | {"before": State(row["before"])})


def _columns(settlements: Sequence[Settlement]) -> dict[str, list[Any]]:
    return {
        "ids": [each.delivery_id for each in settlements],
        "fences": [each.fence for each in settlements],
        "outcomes": [each.outcome for each in settlements],
        "afters": [each.after for each in settlements],
        "lates": [each.late_after for each in settlements],
        "waits": [each.retry_in_seconds for each in settlements],
        "reasons": [each.reason for each in settlements],
        "provider_ids": [each.provider_id for each in settlements],
    }
