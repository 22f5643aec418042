"""Whether there is anything for a sweep, in memory; see ledger/deliveries/occasions.py."""

from collections.abc import Sequence
from dataclasses import dataclass

from services.backbone.ledger.deliveries.occasions import Occasion
from services.backbone.ledger.deliveries.sweeps import Fenced
from services.contracts.states import State
from tests.simulation.memory.evidence import MemoryEvidence
from tests.simulation.memory.look_ups import MemoryUntold
from tests.simulation.memory.sweeps import MemorySweeps
from tests.simulation.memory.tables import SENDABLE


@dataclass(frozen=True)
class MemoryOccasions:
    """The statement of Occasions; no channel is stopped here."""

    sweeps: MemorySweeps
    evidence: MemoryEvidence
    untold: MemoryUntold

    def ask(self, known: Sequence[Fenced], deadline_seconds: float, asked: int = -1) -> Occasion:
        """Tell whether any sweep would find something."""
        sweeps = self.sweeps
        has_work = bool(
            sweeps.lost(known)
            or sweeps.found(sweeps.is_lease_over, (State.CLAIMED,))
            or sweeps.found(sweeps.is_too_old, SENDABLE)
            or sweeps.doubtful(deadline_seconds, asked)
            or self.evidence.to_be_weighed(sweeps.channel)
            or self.untold.waiting
        )
        return Occasion(is_paused=False, has_work=has_work)
