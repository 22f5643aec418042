"""How fast sends may follow one another: by turns that all deliverers of a channel share."""

from dataclasses import replace
from typing import Final, Protocol

from services.backbone.clock import Clock
from services.backbone.errors import Transient
from services.backbone.ledger.deliveries.claims import Claims, Due
from services.backbone.ledger.deliveries.turns import AHEAD_SECONDS, InTurn, Turns

FOREVER_SECONDS: Final = 86_400.0
STALE_SECONDS: Final = 0.1
"""Turns missed by more than this are not used: their sends would come on top of others' turns."""
TRIES_LIMIT: Final = 3


class Pace(Protocol):
    """What hands out turns; see services/backbone/ledger/deliveries/turns.py."""

    @property
    def is_limited(self) -> bool:
        """Whether turns are scarce at all."""

    async def claim(self, claims: Claims, due: Due) -> InTurn:
        """Claim what can have turns soon, and take these; raises Transient."""

    async def turns(self, wanted: int, ahead_seconds: float = AHEAD_SECONDS) -> Turns:
        """Take at most `wanted` turns that begin soon; raises Transient."""

    async def give_back(self, turns: Turns, unused: int) -> None:
        """Return the last of these turns, if that is still possible; raises Transient."""


class Unlimited:
    """The pace of a channel without a limit."""

    is_limited: Final = False

    async def claim(self, claims: Claims, due: Due) -> InTurn:
        """Claim, and return a turn at once for each."""
        claimed = await claims.due(due)
        return InTurn(claimed, await self.turns(len(claimed)))

    async def turns(self, wanted: int, ahead_seconds: float = AHEAD_SECONDS) -> Turns:
        """Return as many as are wanted, all at once."""
        return Turns((0.0,) * wanted)

    async def give_back(self, turns: Turns, unused: int) -> None:
        """Do nothing: there are always more."""


class Paced:
    """A pace by the clock of one process: turns as moments of its monotonic clock."""

    def __init__(self, pace: Pace, clock: Clock) -> None:
        self._pace = pace
        self._clock = clock
        self._ask_at = 0.0

    @property
    def is_limited(self) -> bool:
        """Whether turns are scarce at all."""
        return self._pace.is_limited

    def ask_in_seconds(self) -> float:
        """Return when it is worth to claim again; 0 where there may be turns now."""
        return max(0.0, self._ask_at - self._clock.monotonic_seconds())

    async def claim(self, claims: Claims, due: Due) -> InTurn:
        """Claim due deliveries that can have turns soon; raises Transient.

        Turns are taken for what is found alone: others would be lost to the channel as soon as
        another deliverer has taken those after them.
        """
        found = await self._pace.claim(claims, due)
        turns, count = found.turns, len(found.claims)
        if found.is_short:
            # Not for longer, since another deliverer may give its turns back.
            self._ask_at = turns.asked_at + min(turns.more_in_seconds, AHEAD_SECONDS)
        if len(turns.in_seconds) < count or not self._is_fresh(turns):
            await self._pace.give_back(turns, len(turns.in_seconds))
            return replace(found, turns=await self.surely(count))
        return found

    async def surely(self, count: int) -> Turns:
        """Take exactly so many turns, however long their sends have to wait.

        Raises:
            Transient: Postgres is away, or so slow that turns are over when they arrive.
        """
        if not count:
            return Turns(())
        for _ in range(TRIES_LIMIT):
            turns = await self._pace.turns(count, FOREVER_SECONDS)
            if self._is_fresh(turns):
                return turns
            await self._pace.give_back(turns, len(turns.in_seconds))
        raise Transient("Postgres is too slow for the channel's rate to be kept")

    def _is_fresh(self, turns: Turns) -> bool:
        """Tell whether sends can still begin in these turns."""
        off_seconds = turns.off_seconds(self._clock.monotonic_seconds())
        return not self.is_limited or off_seconds <= STALE_SECONDS
