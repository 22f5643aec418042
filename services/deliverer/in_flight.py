"""Claims of this deliverer whose end is not recorded yet, and those that ended last."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from services.backbone.ledger.deliveries.claims import Claim
from services.backbone.ledger.deliveries.sweeps import Fenced

ENDED_LIMIT: Final = 10_000
"""So many claims that have ended are remembered: minutes of the fastest channel's."""


@dataclass
class InFlight:
    """Names each claim by delivery id and fence."""

    claiming: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while a claim is made: afterwards `ids` names every claim we know to be ours."""
    sends: dict[Fenced, "asyncio.Task[None]"] = field(default_factory=dict)
    """Their tasks may be over."""
    ended: dict[Fenced, None] = field(default_factory=dict)
    """The newest stand last."""

    def __len__(self) -> int:
        return len(self.sends)

    def add(self, claim: Claim, sending: "asyncio.Task[None]") -> None:
        """Take a claim up whose send begins."""
        self.sends[claim.delivery_id, claim.fence] = sending

    def had(self, claim: Claim) -> bool:
        """Tell whether this very claim was ours before: each has a fence of its own, so Postgres
        has forgotten it since, and something may have been sent.
        """
        return self._remembers((claim.delivery_id, claim.fence))

    def end(self, claim: Claim) -> None:
        """Let go of a claim whose end is recorded."""
        name = claim.delivery_id, claim.fence
        del self.sends[name]
        self.ended[name] = None
        if len(self.ended) > ENDED_LIMIT:
            del self.ended[next(iter(self.ended))]

    def ids(self) -> list[Fenced]:
        """Return delivery id and fence of each."""
        return list(self.sends)

    def never_had(self, found: Iterable[Fenced]) -> list[Fenced]:
        """Return those of our claims whose answer never came, so that nothing was sent for them.

        Of one that has ended here Postgres has forgotten the end, as a failover to a standby that
        lags behind makes it: something may have been sent.
        """
        return [each for each in found if not self._remembers(each)]

    def _remembers(self, name: Fenced) -> bool:
        return name in self.sends or name in self.ended

    async def wait(self, seconds: float) -> None:
        """Wait until the end of all is recorded, but not for longer."""
        if self.sends:
            await asyncio.wait(self.sends.values(), timeout=seconds)
