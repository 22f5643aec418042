"""Turns: all deliverers of a channel together keep the provider's limit.

A turn is a moment from which one send may begin. Turns are 1/rate apart, whoever takes them, so any
span of time holds at most its share of them and a burst; nobody needs to know how many deliverers
there are, and one that dies loses the few turns it had taken and nothing else.
"""

from collections.abc import Coroutine
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from psycopg.rows import scalar_row, tuple_row

from services.backbone.clock import Clock
from services.backbone.ledger.database import AsyncPool
from services.backbone.ledger.deliveries.claims import CLAIM_LIMIT, Claim, Claims, Due
from services.backbone.ledger.statements import Connection, fetch_all, fetch_within, transaction

AHEAD_SECONDS: Final = 0.5
"""Turns are given out so far ahead, many at once."""
TAKINGS_LIMIT: Final = 8
"""Takings that may be ahead of one another: of two deliverers, each of which takes up to three
times anew what was over when it came."""

_KNOWN: Final = """
INSERT INTO turns (channel, next_at) VALUES (%(channel)s, ledger_now())
ON CONFLICT DO NOTHING RETURNING channel"""

# After a pause `next_at` may lie in the past, by as many turns as a burst has besides its first.
# It lies further ahead than anybody takes if the clock went back, as that of a standby may: whoever
# waited for it would send nothing for as long.
_TAKING: Final = """
WITH {quick}held AS MATERIALIZED (
  SELECT next_at, ledger_now() AS at FROM turns WHERE channel = %(channel)s FOR UPDATE
), free AS MATERIALIZED (
  SELECT at, CASE WHEN next_at > at + make_interval(secs => %(furthest)s) THEN at
    ELSE greatest(next_at, at - make_interval(secs => (%(burst)s - 1) / %(rate)s)) END AS first
  FROM held
), had AS MATERIALIZED (
  SELECT at, first, greatest(0, 1 + floor(%(rate)s
    * extract(epoch FROM at + make_interval(secs => %(ahead)s) - first)::float8)) AS count
  FROM free
), given AS MATERIALIZED (
  SELECT at, first, count AS to_be_had, least(%(wanted)s, count)::integer AS count FROM had
), taken AS (
  UPDATE turns SET next_at = given.first + make_interval(secs => given.count / %(rate)s)
  FROM given{and_quick} WHERE channel = %(channel)s RETURNING next_at
)
SELECT count, to_be_had::float8, extract(epoch FROM first - at)::float8, next_at
FROM given, taken"""
_TAKE_WITHIN: Final = _TAKING.format(quick="", and_quick="")

# Turns taken by themselves wait for no disk: by one that takes longer than turns are fresh, none
# would ever come in time. What a crash of Postgres forgets of them is given a second time.
_QUICK: Final = "quick AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))"
_TAKE: Final = _TAKING.format(quick=_QUICK + ", ", and_quick=", quick")

# Only if nobody has taken turns since: these would be the same.
_GIVING_BACK: Final = """
WITH {quick}
UPDATE turns SET next_at = next_at - make_interval(secs => %(count)s / %(rate)s) FROM quick
WHERE channel = %(channel)s AND next_at = %(until)s RETURNING channel"""
_GIVE_BACK: Final = _GIVING_BACK.format(quick=_QUICK)


def furthest_seconds(per_second: float, burst: int) -> float:
    """Return how far ahead the next turn may lie by what was taken.

    Who claims finds turns that begin within AHEAD_SECONDS: a burst and those of that time, and uses
    no more than it claims. Where Postgres is slow it takes as many anew, however far ahead they
    lie, and so do others at the same time.
    """
    at_once = min(CLAIM_LIMIT, burst + per_second * AHEAD_SECONDS)
    return AHEAD_SECONDS + TAKINGS_LIMIT * at_once / per_second


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
    asked_at: float = 0.0
    """When they were asked for, on the monotonic clock of who asked."""
    took_seconds: float = 0.0
    """How long the answer took."""

    def timed(self, asked_at: float, answered_at: float) -> "Turns":
        """Return the same, asked for and answered then."""
        return replace(self, asked_at=asked_at, took_seconds=answered_at - asked_at)

    def off_seconds(self, now: float) -> float:
        """Return how far sends from `now` on would be off their turns, at the most.

        Too late for the first one; or too early, since the ledger counted from its answer at most.
        """
        first = self.in_seconds[0] if self.in_seconds else 0.0
        return max(self.took_seconds, now - self.asked_at - first)

    def wait_seconds(self, number: int, now: float) -> float:
        """Return how long send `number` has to wait from `now` on."""
        return max(0.0, self.asked_at + self.in_seconds[number] - now)


@dataclass(frozen=True, slots=True)
class InTurn:
    """What was claimed, its turns, and whether turns were too few: more may be due than that."""

    claims: list[Claim]
    turns: Turns
    is_short: bool = False


class Rate:
    """A channel's rate, shared through the ledger; `burst` sends may begin at once after a pause.

    A turn that is not used at once is lost, or given back: used later, it would come on top of
    others' turns.
    """

    is_limited: Final = True

    def __init__(
        self, pool: AsyncPool, clock: Clock, *, channel: str, per_second: float, burst: int
    ) -> None:
        self._pool = pool
        self._clock = clock
        self._per_second = per_second
        self._terms: dict[str, Any] = {
            "channel": channel,
            "rate": per_second,
            "burst": float(burst),
            "furthest": furthest_seconds(per_second, burst),
        }
        self._is_known = False

    async def turns(self, wanted: int, ahead_seconds: float = AHEAD_SECONDS) -> Turns:
        """Take at most `wanted` turns, of those that begin within `ahead_seconds`.

        No disk is waited for: a crash of Postgres just then may have them given again.

        Raises:
            Transient: Postgres is away; some turns may be lost.
        """
        await self._be_known()
        terms = self._asked(wanted, ahead_seconds)
        asked = fetch_all(self._pool, tuple_row, _TAKE, terms)
        return await self._answered(asked, wanted, ahead_seconds)

    async def claim(self, claims: Claims, due: Due) -> InTurn:
        """Claim due deliveries, at most as many as can have turns soon, and take these turns.

        In one transaction, so that no two deliverers claim for the same turn: at one in minutes
        the second's send would wait for longer than it may take.

        Raises:
            Transient: Postgres is away; some may be claimed all the same, see Sweeps.lost.
        """
        await self._be_known()
        async with transaction(self._pool) as connection:
            free = await self._taken(connection, 0)
            limit = int(min(due.limit, free.to_be_had))
            within_turns = replace(due, limit=limit)
            claimed = await claims.due_within(connection, within_turns) if limit else []
            if not claimed:
                await connection.rollback()  # so that looking for nothing waits for no disk
                return InTurn([], free, is_short=not limit)
            turns = await self._taken(connection, len(claimed), due.limit)
            return InTurn(claimed, turns, is_short=len(claimed) == limit < due.limit)

    async def _taken(self, connection: Connection, count: int, wanted: int = 0) -> Turns:
        """Take turns while nobody else can: what is waited for is this statement alone."""
        terms = self._asked(count, AHEAD_SECONDS)
        asked = fetch_within(connection, tuple_row, _TAKE_WITHIN, terms)
        return await self._answered(asked, wanted, AHEAD_SECONDS)

    async def _answered(
        self, asked: Coroutine[Any, Any, list[Any]], wanted: int, ahead_seconds: float
    ) -> Turns:
        """Ask, and note when that was and how long the answer took."""
        asked_at = self._clock.monotonic_seconds()
        (row,) = await asked
        turns = self._turns(row, wanted, ahead_seconds)
        return turns.timed(asked_at, self._clock.monotonic_seconds())

    def _asked(self, wanted: int, ahead_seconds: float) -> dict[str, Any]:
        return self._terms | {"wanted": wanted, "ahead": ahead_seconds}

    def _turns(
        self, row: tuple[int, float, float, datetime], wanted: int, ahead_seconds: float
    ) -> Turns:
        count, to_be_had, first, until = row
        begins = tuple(max(0.0, first + number / self._per_second) for number in range(count))
        is_short = count < wanted or not to_be_had
        more = first + count / self._per_second - ahead_seconds if is_short else 0.0
        return Turns(begins, max(0.0, more), until, to_be_had)

    async def _be_known(self) -> None:
        if not self._is_known:
            await fetch_all(self._pool, scalar_row, _KNOWN, self._terms)
            self._is_known = True

    async def give_back(self, turns: Turns, unused: int) -> None:
        """Return the last of these turns, if nobody has taken others since.

        Raises:
            Transient: Postgres is away; they are lost.
        """
        if not unused:
            return
        terms = self._terms | {"count": float(unused), "until": turns.until}
        await fetch_all(self._pool, scalar_row, _GIVE_BACK, terms)
