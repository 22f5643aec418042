"""A declared process: what to run, how one sees that it is ready, how it ends."""

import signal
from collections.abc import Mapping
from dataclasses import dataclass, field

from services.machine.readiness import Readiness


@dataclass(frozen=True)
class Program:
    """One process of the plan.

    `environment` is laid over the supervisor's own. `after` names the programs that must be ready
    before this one starts. `stop_signal` asks it to end; `death_signal` is what it gets when the
    supervisor itself is killed. `ordinary_user` is for programs that refuse to run as root.
    """

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    readiness: Readiness | None = None
    after: tuple[str, ...] = ()
    ready_timeout_seconds: float = 60.0
    stop_timeout_seconds: float = 12.0
    stop_signal: signal.Signals = signal.SIGTERM
    death_signal: signal.Signals = signal.SIGKILL
    ordinary_user: bool = False
