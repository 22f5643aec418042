"""Turns in memory; see ledger/deliveries/turns.py."""

import math
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from services.backbone.ledger.deliveries.claims import Due
from services.backbone.ledger.deliveries.turns import AHEAD_SECONDS, InTurn, Turns, furthest_seconds
from tests.simulation.memory.claims import MemoryClaims
from tests.simulation.memory.tables import Tables


@dataclass(frozen=True)
class MemoryRate:
    """The statements of Rate, each at one moment."""

    tables: Tables
    channel: str
    per_second: float
    burst: int
    is_limited: Final = True

    def turns(self, wanted: int, ahead_seconds: float = AHEAD_SECONDS) -> Turns:
        """Take at most `wanted` turns."""
        now = self.tables.now()
        next_at = self.tables.turns.setdefault(self.channel, now)
        first = max(next_at, now - (self.burst - 1) / self.per_second)
        if next_at > now + furthest_seconds(self.per_second, self.burst):
            first = now
        to_be_had = max(0, 1 + math.floor(self.per_second * (now + ahead_seconds - first)))
        count = min(wanted, to_be_had)
        self.tables.turns[self.channel] = until = first + count / self.per_second
        begins = tuple(max(0.0, first - now + n / self.per_second) for n in range(count))
        is_short = count < wanted or not to_be_had
        more = max(0.0, until - now - ahead_seconds) if is_short else 0.0
        return Turns(begins, more, datetime.fromtimestamp(until, UTC), to_be_had)

    def claim(self, claims: MemoryClaims, due: Due) -> InTurn:
        """Claim due deliveries, at most as many as can have turns soon, and take these."""
        free = self.turns(0)
        limit = int(min(due.limit, free.to_be_had))
        claimed = claims.due(replace(due, limit=limit))
        if not claimed:
            return InTurn([], free, is_short=not limit)
        turns, after = self.turns(len(claimed)), self.turns(0)
        more = after.more_in_seconds if len(claimed) < due.limit else 0.0
        turns = replace(turns, more_in_seconds=more)
        return InTurn(claimed, turns, is_short=len(claimed) == limit < due.limit)

    def give_back(self, turns: Turns, unused: int) -> None:
        """Return the last of these turns, if nobody has taken others since."""
        until = self.tables.turns[self.channel]
        if datetime.fromtimestamp(until, UTC) == turns.until:
            self.tables.turns[self.channel] = until - unused / self.per_second
