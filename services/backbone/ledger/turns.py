"""Turns: all deliverers of a channel together keep the provider's limit.

A turn is a moment from which one send may begin. Turns are 1/rate apart, whoever takes them, so any
span of time holds at most its share of them and a burst; nobody needs to know how many deliverers
there are, and one that dies loses the few turns it had taken and nothing else.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from psycopg.rows import scalar_row, tuple_row

from services.backbone.ledger.database import AsyncPool
from services.backbone.ledger.statements import fetch_all

AHEAD_SECONDS: Final = 0.5
"""Turns are given out so far ahead, many at once."""

_KNOWN: Final = """
INSERT INTO turns (channel, next_at) VALUES (%(channel)s, ledger_now())
ON CONFLICT DO NOTHING RETURNING channel"""

# After a pause `next_at` may lie in the past, by as many turns as a burst has besides its first.
_TAKE: Final = """
WITH held AS MATERIALIZED (
  SELECT next_at, ledger_now() AS at FROM turns WHERE channel = %(channel)s FOR UPDATE
), free AS MATERIALIZED (
  SELECT at, greatest(next_at, at - make_interval(secs => (%(burst)s - 1) / %(rate)s)) AS first
  FROM held
), had AS MATERIALIZED (
  SELECT at, first, greatest(0, 1 + floor(%(rate)s
    * extract(epoch FROM at + make_interval(secs => %(ahead)s) - first)::float8)) AS count
  FROM free
), given AS MATERIALIZED (
  SELECT at, first, count AS to_be_had, least(%(wanted)s, count)::integer AS count FROM had
), taken AS (
  UPDATE turns SET next_at = given.first + make_interval(secs => given.count / %(rate)s)
  FROM given WHERE channel = %(channel)s RETURNING next_at
)
SELECT count, to_be_had::float8, extract(epoch FROM first - at)::float8, next_at
FROM given, taken"""

# Only if nobody has taken turns since: these would be the same.
_GIVE_BACK: Final = """
UPDATE turns SET next_at = next_at - make_interval(secs => %(count)s / %(rate)s)
WHERE channel = %(channel)s AND next_at = %(until)s RETURNING channel"""


@dataclass(frozen=True, slots=True)
class Turns:
    """Turns that one deliverer got: for each, in how many seconds its send may begin, ascending.

    Seconds count from when they were asked for. If there are fewer than wanted, or none at all,
    more are to be had in `more_in_seconds`.
    """

    in_seconds: tuple[float, ...]
    more_in_seconds: float = 0.0
    until: datetime | None = None
    """When the turn after these begins, on the ledger's clock; None without a limit."""
    to_be_had: float = 0.0
    """How many there were, these among them; who wants none learns it."""


class Rate:
    """A channel's rate, shared through the ledger; `burst` sends may begin at once after a pause.

    A turn that is not used at once is lost, or given back: used later, it would come on top of
    others' turns.
    """

    is_limited: Final = True

    def __init__(self, pool: AsyncPool, *, channel: str, per_second: float, burst: int) -> None:
        self._pool = pool
        self._per_second = per_second
        self._terms: dict[str, Any] = {
            "channel": channel,
            "rate": per_second,
            "burst": float(burst),
        }
        self._is_known = False

    async def turns(self, wanted: int, ahead_seconds: float = AHEAD_SECONDS) -> Turns:
        """Take at most `wanted` turns, of those that begin within `ahead_seconds`.

        Raises:
            Transient: Postgres is away; some turns may be lost.
        """
        if not self._is_known:
            await fetch_all(self._pool, scalar_row, _KNOWN, self._terms)
            self._is_known = True
        terms = self._terms | {"wanted": wanted, "ahead": ahead_seconds}
        ((count, to_be_had, first, until),) = await fetch_all(self._pool, tuple_row, _TAKE, terms)
        begins = tuple(max(0.0, first + number / self._per_second) for number in range(count))
        is_short = count < wanted or not to_be_had
        more = first + count / self._per_second - ahead_seconds if is_short else 0.0
        return Turns(begins, max(0.0, more), until, to_be_had)

    async def give_back(self, turns: Turns, unused: int) -> None:
        """Return the last of these turns, if nobody has taken others since.

        Raises:
            Transient: Postgres is away; they are lost.
        """
        if not unused:
            return
        terms = self._terms | {"count": float(unused), "until": turns.until}
        await fetch_all(self._pool, scalar_row, _GIVE_BACK, terms)
