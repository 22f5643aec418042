"""The cells of the matrix: workload, fault, who is hit, and when."""

from dataclasses import dataclass
from enum import StrEnum


class Workload(StrEnum):
    """What the simulator sends meanwhile."""

    STEADY = "steady"
    BURST = "burst"


class Fault(StrEnum):
    """What goes wrong."""

    NONE = "none"
    KILL = "kill -9"
    STOP = "SIGSTOP"
    SILENT = "network silent"
    RESET = "network resets"
    FULL = "disk full"
    SLOW = "disk slow"
    REWORDED = "a watch's words changed, and back"
    RULED = "a watch's rule changed, and back"
    PAUSED = "another watch paused, and back"
    REMOVED = "another watch removed, and added again"


CHANGED = (Fault.REWORDED, Fault.RULED, Fault.PAUSED, Fault.REMOVED)
"""What is done to a watch's file."""


class Phase(StrEnum):
    """When it goes wrong, in the life of the load or of an auditor's batch."""

    START = "load begins"
    MID = "mid batch"
    BOUNDARY = "batch boundary"


LEADER = "leader"
"""The broker that leads the first partition of the events at that moment."""
FOLLOWER = "follower"
"""A broker that does not."""
CONTROLLER = "controller"
"""The broker that decides who leads at that moment."""
CENTRE = "controller that leads nearly all"
"""It, after the other brokers have been killed in turn and are back: the worst to lose slowly."""
AUDITORS = "auditors"
"""All auditors at once."""
UNSURE_DELIVERERS = 4
"""Two of webhook and two of e-mail, whose far ends drop no repeats."""
DISKED = ("kafka-2", "postgres", "auditor-a")
"""Programs whose disks get full or slow."""


@dataclass(frozen=True)
class Cell:
    """One trial; `hit` names programs, or says which by a word above."""

    fault: Fault
    hit: tuple[str, ...] = ()
    phase: Phase = Phase.MID
    workload: Workload = Workload.STEADY

    @property
    def title(self) -> str:
        """The cell in words."""
        what = " and ".join(self.hit)
        return f"{self.fault} {what}".strip() + f", {self.workload}, {self.phase}"

    @property
    def doubting(self) -> int:
        """How many deliverers the fault can leave in doubt about what they have under way: the
        one that is hit, or all whose far ends drop no repeats where their ledger is."""
        if "postgres" in self.hit:
            return UNSURE_DELIVERERS
        return sum(name.startswith("deliverer-") for name in self.hit)


SERVICES = ("gateway", "lookout", "deliverer-bus", "deliverer-webhook", "deliverer-email")
MIRRORS = ("lookout-mirror", "deliverer-webhook-mirror")


def plan(auditors: list[str]) -> list[Cell]:
    """Return all cells, the undisturbed ones first; neighbours hit different programs."""
    return [
        Cell(Fault.NONE),
        Cell(Fault.NONE, workload=Workload.BURST),
        *two_at_once(auditors),
        *(Cell(Fault.FULL, (name,)) for name in DISKED),
        *(Cell(Fault.SLOW, (name,)) for name in (*DISKED, CONTROLLER, CENTRE)),
        *out_of_reach(auditors),
        *killed(auditors),
        *(Cell(fault, (AUDITORS,)) for fault in CHANGED),
    ]


def killed(auditors: list[str]) -> list[Cell]:
    """Return SIGKILL of each program, in each phase that means something to it."""
    stores = (LEADER, FOLLOWER, CONTROLLER, "postgres")
    each = (*auditors, *SERVICES, *MIRRORS, *stores, "archivist", "accountant")
    early = ("gateway", LEADER, auditors[-1], "lookout", "postgres")
    late = (LEADER, *auditors)
    pressed = ("gateway", auditors[0], LEADER, "lookout", "deliverer-webhook", "postgres")
    return [
        *(Cell(Fault.KILL, (name,)) for name in each),
        *(Cell(Fault.KILL, (name,), Phase.START) for name in early),
        *(Cell(Fault.KILL, (name,), Phase.BOUNDARY) for name in late),
        *(Cell(Fault.KILL, (name,), workload=Workload.BURST) for name in pressed),
    ]


def two_at_once(auditors: list[str]) -> list[Cell]:
    """Return SIGKILL of two programs in the same moment."""
    pairs = [
        (LEADER, auditors[0]),
        ("postgres", "lookout"),
        ("gateway", "deliverer-webhook"),
        (LEADER, FOLLOWER),
        (LEADER, "postgres"),
        (AUDITORS,),
        ("lookout", "lookout-mirror"),
        ("deliverer-webhook", "deliverer-webhook-mirror"),
    ]
    return [Cell(Fault.KILL, pair) for pair in pairs]


def out_of_reach(auditors: list[str]) -> list[Cell]:
    """Return programs that stand still, or that the network does not reach."""
    still = (
        *("gateway", LEADER, auditors[0], "postgres", "lookout", FOLLOWER, "deliverer-webhook"),
        *("deliverer-bus", *auditors[1:], "deliverer-email"),
    )
    silent = (
        *("gateway", "postgres", auditors[0], LEADER, "lookout", "deliverer-webhook"),
        *("deliverer-bus", *auditors[1:], "deliverer-email"),
    )
    return [
        *(Cell(Fault.STOP, (name,)) for name in still),
        *(Cell(Fault.SILENT, (name,)) for name in silent),
        *(Cell(Fault.RESET, (name,)) for name in (LEADER, "postgres")),
    ]
