"""Claims: the right to send, committed before the first byte leaves, and what became of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, LiteralString

from psycopg.rows import kwargs_row, tuple_row

from services.backbone.ledger.database import AsyncPool
from services.backbone.ledger.deliveries.ages import AT_ONCE, IS_YOUNG
from services.backbone.ledger.statements import Connection, fetch_all, fetch_within
from services.backbone.ledger.states import OVER
from services.contracts.states import State

CLAIM_LIMIT: Final = 100
"""Rows that one statement claims at most."""
CLAIM_LIMIT_CHARACTERS: Final = 4 * 1024 * 1024
"""Records that one statement claims have so many at most, but for the last one: read, they take ten
times that."""


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
    at_once: bool = True
    """See `AT_ONCE`; else it has waited on purpose."""


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
    """CLAIM_LIMIT at most."""
    only: Sequence[str] | None = None
    """Recipients to take, or None for all."""
    without: Sequence[str] = ()
    """Recipients to leave alone."""
    characters: int = CLAIM_LIMIT_CHARACTERS
    """Once the records have so many together, no more are claimed; see `is_cut`."""


# Plans are made once, perhaps while the tables are empty, and used in a storm. So nothing is left
# to choose: a row's state and channel are read as `state || ''` where it is looked up by its id,
# which leaves only the primary key to find it by, and rows to be changed are named by an array.
_READY: Final = """{state} IN ('PENDING', 'RETRY_WAIT') AND next_attempt_at <= ledger_now()
    AND {channel} = %(channel)s AND {is_young}
    AND NOT EXISTS (SELECT FROM evidence e
      WHERE e.delivery_id = deliveries.delivery_id AND e.weighed_at IS NULL)"""
_WAITING: Final = _READY.format(state="state", channel="channel", is_young=IS_YOUNG)
_WAITING_BY_ID: Final = _READY.format(
    state="state || ''", channel="channel || ''", is_young=IS_YOUNG
)

# A claim takes the delivery out of the outbox too: whoever claims it knows of it.
_CLAIM: Final = """
WITH RECURSIVE {due}, fitting AS (
  SELECT delivery_id, before, record FROM (
    SELECT due.*, sum(length(record)) OVER (ROWS UNBOUNDED PRECEDING) AS so_far FROM due) AS summed
  WHERE so_far - length(record) < %(characters)s
), claimed AS (
  UPDATE deliveries d SET state = 'CLAIMED', fence = d.fence + 1, attempt = d.attempt + 1,
    owner = %(owner)s, lease_until = ledger_now() + make_interval(secs => %(lease)s),
    updated_at = ledger_now(), published_at = coalesce(d.published_at, ledger_now())
  WHERE d.delivery_id = ANY(ARRAY(SELECT delivery_id FROM fitting))
  RETURNING d.delivery_id, d.alert_id, d.channel, d.recipient, d.attempt, d.fence, d.marked_repeat,
    {at_once} AS at_once
), tried AS (
  INSERT INTO attempts (delivery_id, attempt, fence, owner, claimed_at)
  SELECT delivery_id, attempt, fence, %(owner)s, ledger_now() FROM claimed
)
SELECT claimed.*, fitting.before, fitting.record
FROM claimed JOIN fitting USING (delivery_id)"""

_TOLD: Final = """due AS (
  SELECT found.* FROM unnest(%(ids)s::text[]) AS told (delivery_id)
  CROSS JOIN LATERAL (
    SELECT delivery_id, state AS before, record::text AS record FROM deliveries
    WHERE delivery_id = told.delivery_id AND {waiting_by_id}
    FOR UPDATE SKIP LOCKED) AS found
  LIMIT %(limit)s
)"""
_LONGEST_OVERDUE: Final = """due AS (
  SELECT delivery_id, state AS before, record::text AS record FROM deliveries WHERE {waiting}
  ORDER BY next_attempt_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED
)"""
# Where some recipients only are meant, these are listed first, by leaps through the index, so that
# the deliveries of the others, however many, are not looked at. The comparison of pairs is the way
# to have the index used that begins with the recipient; and numbers that the plan knows, else it
# expects so many rows that it reads those of all alerts instead. What is due first is due to those
# who have something due first.
_LONGEST_OVERDUE_TO: Final = """recipients AS (
  (SELECT recipient FROM deliveries
    WHERE channel = %(channel)s AND state IN ('PENDING', 'RETRY_WAIT')
    ORDER BY recipient LIMIT 1)
  UNION ALL
  SELECT (SELECT d.recipient FROM deliveries d
    WHERE d.channel = %(channel)s AND d.state IN ('PENDING', 'RETRY_WAIT')
      AND d.recipient > r.recipient
    ORDER BY d.recipient LIMIT 1)
  FROM recipients r WHERE r.recipient IS NOT NULL
), wanted AS (
  SELECT recipient FROM (
    SELECT unnest(%(only)s::text[]) AS recipient
    UNION ALL
    SELECT recipient FROM recipients WHERE %(only)s::text[] IS NULL) AS any_of
  WHERE recipient <> ALL(%(without)s::text[])
), first AS (
  SELECT wanted.recipient FROM wanted CROSS JOIN LATERAL (
    SELECT next_attempt_at FROM deliveries WHERE {waiting_for_it}
    ORDER BY recipient, next_attempt_at LIMIT 1) AS head
  ORDER BY head.next_attempt_at LIMIT 2 * %(limit)s
), next AS (
  SELECT found.delivery_id FROM first AS wanted CROSS JOIN LATERAL (
    SELECT delivery_id, next_attempt_at FROM (
      SELECT delivery_id, next_attempt_at FROM deliveries WHERE {waiting_for_it}
      ORDER BY recipient, next_attempt_at LIMIT {at_most}) AS earliest
    LIMIT 2 * %(limit)s) AS found
  ORDER BY found.next_attempt_at LIMIT 2 * %(limit)s
), due AS (
  SELECT found.* FROM next
  CROSS JOIN LATERAL (
    SELECT delivery_id, state AS before, record::text AS record FROM deliveries
    WHERE delivery_id = next.delivery_id AND {waiting_by_id}
    FOR UPDATE SKIP LOCKED) AS found
  LIMIT %(limit)s
)"""
_WAITING_FOR_IT: Final = f"""{_WAITING}
      AND (recipient, next_attempt_at) >= (wanted.recipient, '-infinity')
      AND (recipient, next_attempt_at) <= (wanted.recipient, ledger_now())"""
_CLAIM_BY_ID: Final = _CLAIM.format(at_once=AT_ONCE, due=_TOLD.format(waiting_by_id=_WAITING_BY_ID))
_CLAIM_DUE: Final = _CLAIM.format(at_once=AT_ONCE, due=_LONGEST_OVERDUE.format(waiting=_WAITING))
_CLAIM_DUE_TO: Final = _CLAIM.format(
    at_once=AT_ONCE,
    due=_LONGEST_OVERDUE_TO.format(
        waiting_for_it=_WAITING_FOR_IT, waiting_by_id=_WAITING_BY_ID, at_most=2 * CLAIM_LIMIT
    ),
)

_SETTLE: Final = f"""
WITH told AS (
  SELECT * FROM unnest(%(ids)s::text[], %(fences)s::bigint[], %(outcomes)s::text[],
    %(afters)s::text[], %(lates)s::text[], %(waits)s::float8[], %(reasons)s::text[],
    %(provider_ids)s::text[])
  AS t(delivery_id, fence, outcome, after, late_after, wait, reason, provider_id)
), mine AS (
  SELECT t.*, found.before FROM told t CROSS JOIN LATERAL (
    SELECT d.state AS before FROM deliveries d
    WHERE d.delivery_id = t.delivery_id AND d.fence = t.fence AND d.owner = %(owner)s
      AND (d.state || '' = 'CLAIMED' OR d.state || '' = 'IN_DOUBT' AND t.late_after IS NOT NULL)
    FOR UPDATE) AS found
), moved AS (
  UPDATE deliveries d
  SET state = CASE t.before WHEN 'CLAIMED' THEN t.after ELSE t.late_after END,
    lease_until = NULL, reason = t.reason,
    provider_id = CASE t.provider_id WHEN '' THEN d.provider_id ELSE t.provider_id END,
    next_attempt_at = ledger_now() + make_interval(secs => t.wait), updated_at = ledger_now()
  FROM mine t
  WHERE d.delivery_id = ANY(%(ids)s) AND d.delivery_id = t.delivery_id AND d.fence = t.fence
  RETURNING d.delivery_id, t.before
), finished AS (
  UPDATE attempts a SET finished_at = ledger_now(), outcome = t.outcome, reason = t.reason,
    provider_id = t.provider_id
  FROM told t
  WHERE a.delivery_id = ANY(%(ids)s) AND a.delivery_id = t.delivery_id AND a.fence = t.fence
    AND a.owner = %(owner)s AND (a.outcome IS NULL OR a.outcome = 'IN_DOUBT')
), late AS (
  INSERT INTO evidence (delivery_id, kind, source, provider_id, attempt, detail)
  SELECT t.delivery_id, 'TAKEN', 'answer', t.provider_id, a.attempt, 'answered late'
  FROM (SELECT * FROM told WHERE outcome = 'SENT'
    AND delivery_id NOT IN (SELECT delivery_id FROM mine) OFFSET 0) AS t
  JOIN deliveries d USING (delivery_id)
  JOIN attempts a ON a.delivery_id = t.delivery_id AND a.fence = t.fence AND a.owner = %(owner)s
  WHERE d.delivery_id = ANY(%(ids)s) AND a.delivery_id = ANY(%(ids)s)
    AND d.state NOT IN ({OVER})
  ON CONFLICT DO NOTHING
)
SELECT delivery_id, before FROM moved"""  # noqa: S608 - no input in it

_STATES: Final = """SELECT delivery_id, state FROM deliveries
WHERE delivery_id = ANY(%(ids)s) AND channel = %(channel)s"""


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

    async def by_id(
        self, delivery_ids: Sequence[str], limit: int, characters: int = CLAIM_LIMIT_CHARACTERS
    ) -> list[Claim]:
        """Claim those of the deliveries that are due, at most `limit`; see also `Due`.

        If it raises, some may be claimed although nobody will send them: see Sweeps.lost.
        """
        once = list(dict.fromkeys(delivery_ids))  # the statement would return a repeated id twice
        terms = self._terms | {"ids": once, "limit": limit, "characters": characters}
        return await fetch_all(self._pool, kwargs_row(_claim), _CLAIM_BY_ID, terms)

    async def due(self, due: Due) -> list[Claim]:
        """Claim due deliveries; the same caution as in `by_id`."""
        statement, terms = self._asked(due)
        return await fetch_all(self._pool, kwargs_row(_claim), statement, terms)

    async def due_within(self, connection: Connection, due: Due) -> list[Claim]:
        """Claim due deliveries as part of a transaction."""
        statement, terms = self._asked(due)
        return await fetch_within(connection, kwargs_row(_claim), statement, terms)

    def _asked(self, due: Due) -> tuple[LiteralString, dict[str, Any]]:
        """Return the statement that claims so, and its terms."""
        terms = self._terms | {"limit": due.limit, "characters": due.characters}
        if due.only is None and not due.without:
            return _CLAIM_DUE, terms
        only = None if due.only is None else list(due.only)
        return _CLAIM_DUE_TO, terms | {"only": only, "without": list(due.without)}

    async def states(self, delivery_ids: Sequence[str]) -> dict[str, State]:
        """Return the states, by id, of those that are deliveries of this channel."""
        terms = self._terms | {"ids": list(delivery_ids)}
        rows = await fetch_all(self._pool, tuple_row, _STATES, terms)
        return {delivery_id: State(state) for delivery_id, state in rows}

    async def settle(self, settlements: Sequence[Settlement]) -> dict[str, State]:
        """Record outcomes; return the state before, by id, of those rows that moved.

        Moves rows that this owner's claim still fences: from CLAIMED, or from IN_DOUBT where the
        late answer is evidence. An acceptance that comes later still is kept as evidence, to be
        weighed. The attempt's own row keeps the outcome, unless evidence has settled it before.
        """
        terms = self._terms | _columns(settlements)
        rows = await fetch_all(self._pool, tuple_row, _SETTLE, terms)
        return {delivery_id: State(before) for delivery_id, before in rows}


def is_cut(claimed: Sequence[Claim], characters: int = CLAIM_LIMIT_CHARACTERS) -> bool:
    """Tell whether a claim may have ended for its records' length: more may be due."""
    return sum(len(each.record) for each in claimed) >= characters


def _claim(**row: Any) -> Claim:
    return Claim(**row | {"before": State(row["before"])})


def _columns(settlements: Sequence[Settlement]) -> dict[str, list[Any]]:
    # Rows are locked in one sequence everywhere, so that nobody waits in a ring.
    settlements = sorted(settlements, key=lambda each: each.delivery_id)
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
