"""Tells the ledger what only this deliverer knows: names in its settings, and open breakers."""

from dataclasses import dataclass
from typing import Final

from services.backbone.clock import Clock
from services.backbone.ledger.deliveries.breakers import LAPSES_SECONDS, BreakerBook, OpenBreaker
from services.backbone.ledger.deliveries.names import NamesBook
from services.deliverer import metrics
from services.deliverer.breaker import Breakers
from services.deliverer.channel import Traits

AGAIN_SECONDS: Final = LAPSES_SECONDS / 3
"""What stays open is noted again so often, so that it never lapses."""


@dataclass
class Notices:
    """Tells names once, and breakers when one has opened or closed."""

    names_book: NamesBook
    breaker_book: BreakerBook
    traits: Traits
    breakers: Breakers
    clock: Clock
    _named: bool = False
    _noted: frozenset[tuple[str, str]] = frozenset()
    _noted_at: float = 0.0

    async def tell(self) -> None:
        """Tell what has changed since the last time.

        Raises:
            Transient: Postgres is away; the next turn tells it.
        """
        now = self.clock.monotonic_seconds()
        standing = self.breakers.standing(now)
        metrics.BREAKERS_OPEN.labels(self.traits.name).set(len(standing))
        if not self._named and self.traits.names is not None:
            await self.names_book.tell(self.traits.names)
        self._named = True
        if self._is_news(standing, now):
            await self.breaker_book.note(standing)
            self._noted, self._noted_at = _told(standing), now

    def _is_news(self, standing: list[OpenBreaker], now: float) -> bool:
        lapses = bool(standing) and now - self._noted_at >= AGAIN_SECONDS
        return lapses or _told(standing) != self._noted


def _told(standing: list[OpenBreaker]) -> frozenset[tuple[str, str]]:
    return frozenset((each.destination, each.reason) for each in standing)
