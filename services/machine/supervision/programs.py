"""A declared process: what to run, how one sees that it is ready, how it ends."""

import signal
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from services.machine.supervision.cores import ALL, Cores
from services.machine.supervision.readiness import Liveness, Readiness, Work


@dataclass(frozen=True)
class Program:
    """One process of the plan.

    `environment` is laid over the supervisor's own. `after` names the programs that must be ready
    before this one starts for the first time; started again, it waits for none. What is not ready
    in time counts as crashed, unless its `work` names what it lacks. What is found not to be live
    is ended, and started again once it would be. A program that runs `once` is ready when it has
    ended with exit code 0; one that `may_end` before or after it is ready is not started again when
    it has ended so by itself. `on_terminal` shows its standard output to the user; all else goes to
    its log. `stop_signal` asks it to end; `death_signal` is what it gets when the supervisor itself
    is killed. `ordinary_user` is for programs that refuse to run as root. `cores` are the
    processors that it keeps to, with all that it starts. `scratch` is a folder of its own that is
    emptied before each start.
    """

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    readiness: Readiness | None = None
    liveness: Liveness | None = None
    work: Work | None = None
    after: tuple[str, ...] = ()
    once: bool = False
    may_end: bool = False
    on_terminal: bool = False
    ready_timeout_seconds: float = 120.0
    stop_timeout_seconds: float = 12.0
    stop_signal: signal.Signals = signal.SIGTERM
    death_signal: signal.Signals = signal.SIGKILL
    ordinary_user: bool = False
    cores: Cores = ALL
    scratch: Path | None = None


def check_plan(programs: tuple[Program, ...]) -> None:
    """Raise ValueError where names repeat, or a program waits for one that is not before it."""
    known: set[str] = set()
    for program in programs:
        if program.name in known:
            raise ValueError(f"two programs are named {program.name}")
        if unknown := set(program.after) - known:
            raise ValueError(f"{program.name} waits for {sorted(unknown)}, which is not before it")
        known.add(program.name)


def stop_levels(programs: tuple[Program, ...]) -> list[list[str]]:
    """Return names in the order to stop them: each level holds what nothing left waits for."""
    left = list(programs)
    levels = []
    while left:
        needed = {name for program in left for name in program.after}
        level = [program.name for program in left if program.name not in needed]
        levels.append(level)
        left = [program for program in left if program.name not in level]
    return levels
