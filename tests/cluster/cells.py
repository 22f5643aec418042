"""What is done to the release while events flow."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from tests.chaos.cells import UNSURE_DELIVERERS


class Deed(StrEnum):
    """What happens."""

    NONE = "nothing"
    KILL = "pod killed"
    SCALE = "scaled"
    GROW = "autoscaled"
    UPGRADE = "helm upgrade"
    ROLL_BACK = "helm rollback"
    NODE_RESTARTS = "power lost and back, node with"
    NODE_LOST = "power lost for good, node with"
    NODE_CUT_OFF = "network silent, node with"
    NODE_DRAINED = "drained, node with"


_LEAVE_NO_DOUBT: Final = frozenset(
    {"gateway", "auditor-a", "auditor-b", "executor", "lookout", "deliverer-bus"}
)


@dataclass(frozen=True)
class Cell:
    """One trial; `to` is a component, with the label that picks one of its pods."""

    deed: Deed
    to: str = ""
    label: str = ""

    @property
    def title(self) -> str:
        """The cell in words."""
        return f"{self.deed} {self.to}".strip()

    @property
    def doubting(self) -> int:
        """How many deliverers the deed can leave in doubt about what they have under way: none
        where neither they nor a store is hit, else all whose far ends drop no repeats."""
        apart = self.deed is Deed.NONE or (self.deed is Deed.KILL and self.to in _LEAVE_NO_DOUBT)
        return 0 if apart else UNSURE_DELIVERERS


KILLED: Final = (
    *("gateway", "auditor-a", "auditor-b", "lookout", "deliverer-webhook", "deliverer-email"),
    *("deliverer-bus", "kafka", "postgres"),
)


def plan(executors: bool) -> list[Cell]:
    """Return all cells, the undisturbed one first."""
    apart = [Cell(Deed.KILL, "executor", "aldebaran/auditor=a")] if executors else []
    return [
        Cell(Deed.NONE),
        *(Cell(Deed.KILL, name) for name in KILLED),
        *apart,
        Cell(Deed.UPGRADE, "of both images"),
        Cell(Deed.ROLL_BACK),
        # Last, as partitions cannot be taken away again.
        Cell(Deed.SCALE, "gateway, lookout, deliverers to 3 pods and partitions"),
    ]
