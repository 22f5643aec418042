"""Look-ups: when a provider is asked what it has taken, each time by one deliverer only."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from psycopg.rows import class_row, scalar_row

from services.backbone.ledger.database import AsyncPool
from services.backbone.ledger.statements import fetch_all
from services.backbone.storable import storable

HELD_SECONDS: Final = 3600.0
"""So long after the last time a HELD delivery is still asked about, if that time was missed."""
FINDING_LIMIT: Final = 500
"""Characters that are kept of what the provider said."""

# The number of a look-up is that of the last of the channel's times that is over, so that times
# missed are not made up for one by one. Asked without an answer, it is asked again after a while.
_ASK: Final = """
WITH open AS (
  SELECT delivery_id, attempt, fence, record FROM deliveries
  WHERE channel = %(channel)s AND state = 'IN_DOUBT'
  UNION ALL
  SELECT delivery_id, attempt, fence, record FROM deliveries
  WHERE channel = %(channel)s AND state = 'HELD'
    AND updated_at > ledger_now() - make_interval(secs => %(held)s)
), doubts AS (
  SELECT d.delivery_id, d.attempt, d.fence, d.record::text AS record, a.provider_id, a.claimed_at,
    (SELECT count(*)::integer - 1 FROM unnest(%(times)s::float8[]) AS t(seconds)
      WHERE a.finished_at <= ledger_now() - make_interval(secs => t.seconds)) AS number
  FROM open d JOIN attempts a ON a.delivery_id = d.delivery_id AND a.attempt = d.attempt
  WHERE a.outcome = 'IN_DOUBT'
  ORDER BY a.finished_at
), asked AS (
  INSERT INTO look_ups AS l (delivery_id, attempt, number, owner, asked_at)
  SELECT delivery_id, attempt, number, %(owner)s, ledger_now() FROM doubts
  WHERE number >= 0 AND NOT EXISTS (
    SELECT FROM look_ups o WHERE o.delivery_id = doubts.delivery_id AND o.attempt = doubts.attempt
      AND o.number = doubts.number AND (o.answered_at IS NOT NULL
        OR o.asked_at > ledger_now() - make_interval(secs => %(again)s)))
  LIMIT %(limit)s
  ON CONFLICT (delivery_id, attempt, number) DO UPDATE
    SET owner = excluded.owner, asked_at = excluded.asked_at
    WHERE l.answered_at IS NULL
      AND l.asked_at <= ledger_now() - make_interval(secs => %(again)s)
  RETURNING delivery_id, attempt, number
)
SELECT delivery_id, attempt, asked.number, record, provider_id,
  (extract(epoch FROM claimed_at) * 1000)::bigint AS claimed_at_ms
FROM asked JOIN doubts USING (delivery_id, attempt)"""

_ANSWERED: Final = """
UPDATE look_ups SET answered_at = ledger_now(), finding = %(finding)s
WHERE delivery_id = %(id)s AND attempt = %(attempt)s AND number = %(number)s
RETURNING number"""


@dataclass(frozen=True, slots=True)
class Question:
    """One look-up that this owner has to make; `number` is which of the channel's times it is."""

    delivery_id: str
    attempt: int
    number: int
    record: str
    provider_id: str
    claimed_at_ms: int


class LookUps:
    """Hands out the look-ups that are due on one channel; all methods raise Transient."""

    def __init__(
        self, pool: AsyncPool, *, channel: str, owner: str, times_seconds: Sequence[float]
    ) -> None:
        self._pool = pool
        last = max(times_seconds, default=0.0)
        self._terms: dict[str, Any] = {
            "channel": channel,
            "owner": owner,
            "times": list(times_seconds),
            "held": last + HELD_SECONDS,
        }

    async def due(self, limit: int, again_after_seconds: float) -> list[Question]:
        """Take at most `limit` look-ups; nobody else gets them until `again_after_seconds` passed
        without an answer.
        """
        terms = self._terms | {"limit": limit, "again": again_after_seconds}
        return await fetch_all(self._pool, class_row(Question), _ASK, terms)

    async def answered(self, question: Question, finding: str) -> None:
        """Keep what the provider said."""
        terms = {
            "id": question.delivery_id,
            "attempt": question.attempt,
            "number": question.number,
            "finding": storable(finding, FINDING_LIMIT),
        }
        await fetch_all(self._pool, scalar_row, _ANSWERED, terms)
