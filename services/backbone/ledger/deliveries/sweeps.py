"""Sweeps: find what no message tells of, because time alone made it so.

Every sweep is bounded and skips rows that another owner holds, so several may run together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, LiteralString

from psycopg.rows import class_row, kwargs_row, scalar_row, tuple_row

from services.backbone.ledger.database import AsyncPool
from services.backbone.ledger.deliveries.ages import FOUND, IS_YOUNG, TOO_OLD
from services.backbone.ledger.statements import fetch_all
from services.contracts.records import Severity
from services.contracts.states import State

SWEEP_LIMIT: Final = 500
"""Rows that one sweep moves at most."""
COUNT_LIMIT: Final = 10_000
"""More rows of one kind are not counted to their end."""


Fenced = tuple[str, int]
"""A delivery's id and the fence of one of its claims."""


@dataclass(frozen=True, slots=True)
class Swept:
    """One row that a sweep has moved or may judge; `attempt` and `fence` are of its last claim."""

    delivery_id: str
    alert_id: str
    channel: str
    recipient: str
    severity: Severity
    before: State
    attempt: int
    fence: int
    marked_repeat: bool


@dataclass(frozen=True, slots=True)
class Ruling:
    """What a row in doubt becomes."""

    delivery_id: str
    fence: int
    after: State
    marked_repeat: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Standing:
    """How one channel stands: rows in doubt, held, due, each counted up to COUNT_LIMIT; age of the
    longest overdue in seconds.
    """

    in_doubt: int
    held: int
    due: int
    overdue_seconds: float


_SWEPT: Final = """d.delivery_id, d.alert_id, d.channel, d.recipient,
  d.record->'alert'->>'severity' AS severity, found.before, d.attempt, d.fence, d.marked_repeat"""

_FIND: Final = """
SELECT {columns} FROM deliveries
WHERE channel = %(channel)s AND {condition}
ORDER BY {oldest} LIMIT %(limit)s"""
_MOVE: Final = """
WITH found AS (
  SELECT delivery_id, state AS before FROM deliveries
  WHERE channel = %(channel)s AND {condition}
  ORDER BY {oldest} LIMIT %(limit)s FOR UPDATE SKIP LOCKED
), moved AS (
  UPDATE deliveries d SET state = %(after)s, reason = %(reason)s, lease_until = NULL,
    next_attempt_at = ledger_now(), updated_at = ledger_now()
  FROM found WHERE d.delivery_id = ANY(ARRAY(SELECT delivery_id FROM found))
    AND d.delivery_id = found.delivery_id AND d.state = found.before
  RETURNING {swept}
), finished AS (
  UPDATE attempts a SET finished_at = ledger_now(), outcome = %(after)s, reason = %(reason)s
  FROM moved m
  WHERE a.delivery_id = ANY(ARRAY(SELECT delivery_id FROM moved)) AND m.before = 'CLAIMED'
    AND a.delivery_id = m.delivery_id AND a.attempt = m.attempt
)
SELECT * FROM moved"""

LEASE_IS_OVER: Final = "state = 'CLAIMED' AND lease_until < ledger_now()"
IS_LOST: Final = """state = 'CLAIMED' AND owner = %(owner)s
  AND (delivery_id, fence) NOT IN (SELECT * FROM unnest(%(ids)s::text[], %(fences)s::bigint[]))"""
# The second line lets the index find old ones; the third is exact.
IS_TOO_OLD: Final = f"""state IN ('PENDING', 'RETRY_WAIT')
  AND {FOUND} <= ledger_now() - make_interval(secs => %(age_limit)s)
  AND NOT {IS_YOUNG}"""
IS_DOUBTFUL: Final = """state = 'IN_DOUBT'
  AND updated_at <= ledger_now() - make_interval(secs => %(deadline)s)
  AND (updated_at <= ledger_now() - make_interval(secs => 2 * %(deadline)s) OR %(asked)s < 0
    OR EXISTS (SELECT FROM look_ups l WHERE l.delivery_id = deliveries.delivery_id
      AND l.attempt = deliveries.attempt AND l.number >= %(asked)s
      AND l.answered_at IS NOT NULL))"""

_LEASE_OVER: Final = _MOVE.format(condition=LEASE_IS_OVER, oldest="lease_until", swept=_SWEPT)
_LOST: Final = _FIND.format(columns="delivery_id, fence", condition=IS_LOST, oldest="lease_until")
_GIVE_BACK: Final = _MOVE.format(
    condition="delivery_id = ANY(%(ids)s) AND state || '' = 'CLAIMED'"
    " AND (delivery_id, fence) IN (SELECT * FROM unnest(%(ids)s::text[], %(fences)s::bigint[]))",
    oldest="lease_until",
    swept=_SWEPT,
)
_TOO_OLD: Final = _MOVE.format(condition=IS_TOO_OLD, oldest=FOUND, swept=_SWEPT)

_DOUBTFUL: Final = _FIND.format(
    columns="""delivery_id, alert_id, channel, recipient,
  record->'alert'->>'severity' AS severity, state AS before, attempt, fence, marked_repeat""",
    condition=IS_DOUBTFUL,
    oldest="updated_at",
)

_RULE: Final = """
UPDATE deliveries d SET state = t.after, marked_repeat = d.marked_repeat OR t.marked_repeat,
  reason = t.reason, next_attempt_at = ledger_now(), updated_at = ledger_now()
FROM unnest(%(ids)s::text[], %(fences)s::bigint[], %(afters)s::text[], %(marks)s::boolean[],
  %(reasons)s::text[]) AS t(delivery_id, fence, after, marked_repeat, reason)
WHERE d.delivery_id = ANY(%(ids)s) AND d.delivery_id = t.delivery_id AND d.fence = t.fence
  AND d.state || '' = 'IN_DOUBT'
RETURNING d.delivery_id"""

_COUNT: Final = """(SELECT count(*) FROM (SELECT FROM deliveries
    WHERE channel = %(channel)s AND {condition} LIMIT %(count_limit)s) AS counted)"""
_COUNTS: Final = """
SELECT {in_doubt} AS in_doubt, {held} AS held, {due} AS due,
  greatest(0, coalesce(extract(epoch FROM ledger_now() - (SELECT next_attempt_at FROM deliveries
    WHERE channel = %(channel)s AND state IN ('PENDING', 'RETRY_WAIT')
    ORDER BY next_attempt_at LIMIT 1)), 0))::float8 AS overdue_seconds"""
_STANDING: Final = _COUNTS.format(
    in_doubt=_COUNT.format(condition="state = 'IN_DOUBT'"),
    held=_COUNT.format(condition="state = 'HELD'"),
    due=_COUNT.format(
        condition="state IN ('PENDING', 'RETRY_WAIT') AND next_attempt_at <= ledger_now()"
    ),
)


class Sweeps:
    """Moves rows of one channel for which it is time. All methods raise Transient."""

    def __init__(
        self, pool: AsyncPool, *, channel: str, owner: str, age_limit_seconds: float
    ) -> None:
        self._pool = pool
        self._terms = {
            "channel": channel,
            "owner": owner,
            "age_limit": age_limit_seconds,
            "limit": SWEEP_LIMIT,
            "count_limit": COUNT_LIMIT,
        }

    async def lease_over(self) -> list[Swept]:
        """Put claims whose lease is over IN_DOUBT: their owner may have sent, nobody knows."""
        reason = "the claim's owner gave no answer within its lease"
        return await self._swept(_LEASE_OVER, after=State.IN_DOUBT, reason=reason)

    async def lost(self, known: Sequence[Fenced]) -> list[Fenced]:
        """Return own claims other than `known`: made by calls whose answers were lost, so provably
        never sent, even if their lease is over. Must not run while a claim is being made.
        """
        terms = self._terms | columns(known)
        return await fetch_all(self._pool, tuple_row, _LOST, terms)

    async def give_back(self, lost: Sequence[Fenced]) -> list[Swept]:
        """Let others claim what was lost; done however late, it touches no newer claim."""
        reason = "claimed, but the claim's answer was lost: not sent"
        after = State.RETRY_WAIT
        return await self._swept(_GIVE_BACK, after=after, reason=reason, **columns(lost))

    async def too_old(self) -> list[Swept]:
        """Hold what has waited too long since it was found, or since a person's last word."""
        return await self._swept(_TOO_OLD, after=State.HELD, reason=TOO_OLD)

    async def doubtful(self, deadline_seconds: float, asked: int = -1) -> list[Swept]:
        """Return rows whose time for evidence is over, for `rule` to move.

        Where `asked` is the number of a look-up, its answer is waited for, but not longer than the
        deadline once more.
        """
        return await self._swept(_DOUBTFUL, deadline=deadline_seconds, asked=asked)

    async def rule(self, rulings: Sequence[Ruling]) -> set[str]:
        """Move rows out of doubt; return the ids of those that were still in that doubt."""
        columns = {
            "ids": [each.delivery_id for each in rulings],
            "fences": [each.fence for each in rulings],
            "afters": [each.after for each in rulings],
            "marks": [each.marked_repeat for each in rulings],
            "reasons": [each.reason for each in rulings],
        }
        return set(await fetch_all(self._pool, scalar_row, _RULE, columns))

    async def standing(self) -> Standing:
        """Count what is open."""
        (standing,) = await fetch_all(self._pool, class_row(Standing), _STANDING, self._terms)
        return standing

    async def _swept(self, statement: LiteralString, **terms: Any) -> list[Swept]:
        return await fetch_all(self._pool, kwargs_row(_swept), statement, self._terms | terms)


def columns(claims: Sequence[Fenced]) -> dict[str, Any]:
    """Return claims as the terms `ids` and `fences`."""
    return {"ids": [key for key, _ in claims], "fences": [fence for _, fence in claims]}


def _swept(**row: Any) -> Swept:
    severity, before = Severity(row["severity"]), State(row["before"])
    return Swept(**row | {"severity": severity, "before": before})
