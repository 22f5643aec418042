"""How fast sends may follow one another: by turns that all deliverers of a channel share."""

from dataclasses import dataclass
from typing import Final, Protocol

from services.backbone.clock import Clock
from services.backbone.errors import Transient
from services.backbone.ledger.claims import Claim, Claims, Due
from services.backbone.ledger.turns import AHEAD_SECONDS, InTurn, Turns

FOREVER_SECONDS: Final = 86_400.0
STALE_SECONDS: Final = 0.1
"""Turns missed by more than this are not used: their sends would come on top of others' turns."""
TRIES_LIMIT: Final = 3


class Pace(Protocol):
    """What hands out turns; see services/backbone/ledger/turns.py."""

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

    async def claim(self, claims: Claims, due: Due) -> "Claimed":
        """Claim due deliveries that can have turns soon; raises Transient.

        Turns are taken for what is found alone: others would be lost to the channel as soon as
        another deliverer has taken those after them.
        """
        found = await self._pace.claim(claims, due)
        moments = Moments(found.turns)
        if found.is_short:
            # Not for longer, since another deliverer may give its turns back.
            wait = min(found.turns.more_in_seconds, AHEAD_SECONDS)
            self._ask_at = found.turns.asked_at + wait
        if len(moments) < len(found.claims) or not self._is_fresh(moments):
            await self._pace.give_back(found.turns, len(moments))
            moments = await self.surely(len(found.claims))
        return Claimed(found.claims, moments, found.is_short)

    async def surely(self, count: int) -> "Moments":
        """Take exactly so many turns, however long their sends have to wait.

        Raises:
            Transient: Postgres is away, or so slow that turns are over when they arrive.
        """
        if not count:
            return Moments(Turns(()))
        for _ in range(TRIES_LIMIT):
            moments = Moments(await self._pace.turns(count, FOREVER_SECONDS))
            if self._is_fresh(moments):
                return moments
            await self._pace.give_back(moments.turns, len(moments))
        raise Transient("Postgres is too slow for the channel's rate to be kept")

    def _is_fresh(self, moments: "Moments") -> bool:
        """Tell whether sends can still begin in these turns."""
        off_seconds = moments.off_seconds(self._clock.monotonic_seconds())
        return not self.is_limited or off_seconds <= STALE_SECONDS


@dataclass(frozen=True, slots=True)
class Claimed:
    """What was claimed, and when each send may begin."""

    claims: list[Claim]
    moments: "Moments"
    is_short: bool = False
    """Turns were too few: more may be due than was claimed."""


class Moments:
    """Turns as moments of the monotonic clock."""

    def __init__(self, turns: Turns) -> None:
        self.turns = turns

    def __len__(self) -> int:
        return len(self.turns.in_seconds)

    def off_seconds(self, now: float) -> float:
        """Return how far sends from `now` on would be off their turns, at the most.

        Too late for the first one; or too early, since the ledger counted from its answer at most.
        """
        first = self.turns.in_seconds[0] if self.turns.in_seconds else 0.0
        return max(self.turns.took_seconds, now - self.turns.asked_at - first)

    def wait_seconds(self, number: int, now: float) -> float:
        """Return how long send `number` has to wait from `now` on."""
        return max(0.0, self.turns.asked_at + self.turns.in_seconds[number] - now)
