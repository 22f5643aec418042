"""Claims of this deliverer whose end is not recorded yet."""

import asyncio
from dataclasses import dataclass, field

from services.backbone.ledger.claims import Claim
from services.backbone.ledger.sweeps import Fenced


@dataclass
class InFlight:
    """Names each claim by delivery id and fence."""

    claiming: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while a claim is made: afterwards `ids` names every claim we know to be ours."""
    sends: dict[Fenced, "asyncio.Task[None]"] = field(default_factory=dict)
    """Their tasks may be over."""

    def __len__(self) -> int:
        return len(self.sends)

    def add(self, claim: Claim, sending: "asyncio.Task[None]") -> None:
        """Take a claim up whose send begins."""
        self.sends[claim.delivery_id, claim.fence] = sending

    def end(self, claim: Claim) -> None:
        """Let go of a claim whose end is recorded."""
        del self.sends[claim.delivery_id, claim.fence]

    def ids(self) -> list[Fenced]:
        """Return delivery id and fence of each."""
        return list(self.sends)

    async def wait(self, seconds: float) -> None:
        """Wait until the end of all is recorded, but not for longer."""
        if self.sends:
            await asyncio.wait(self.sends.values(), timeout=seconds)
