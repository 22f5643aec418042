"""One program of the plan and what became of it: the supervisor's own record."""

from dataclasses import dataclass
from enum import Enum, auto

from services.machine.supervision.child import Child
from services.machine.supervision.programs import Program


class Phase(Enum):
    """Where one program stands."""

    WAITING = auto()
    STARTING = auto()
    READY = auto()


@dataclass
class Watched:
    """One program of the plan and what became of it."""

    program: Program
    phase: Phase = Phase.WAITING
    child: Child | None = None
    started_at_seconds: float = 0.0
    not_before_seconds: float = 0.0
    crashes_in_a_row: int = 0
    has_served: bool = False
    looked_at_seconds: float = 0.0
    dead_looks: int = 0
    silent_since_seconds: float | None = None
    asked_to_end_at_seconds: float | None = None
    is_held: bool = False

    def is_done(self, code: int) -> bool:
        """Return whether an end with this exit code is one that the program is meant to have.

        What was asked to end may answer with 0 as well, and is wanted again.
        """
        may_end = self.program.once or self.program.may_end
        return code == 0 and may_end and self.asked_to_end_at_seconds is None

    def ask_to_stop(self) -> None:
        """Ask what runs to end."""
        if self.child is not None:
            self.child.ask_to_stop()

    def kill(self) -> None:
        """Kill what runs, and wait for nothing: one that waits for its disk ends when that does."""
        if self.child is not None:
            self.child.kill()
