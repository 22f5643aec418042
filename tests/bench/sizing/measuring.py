"""`python -m tests.bench.sizing.measuring`: what each part of the whole system costs, measured.

Starts everything as `make run` does, then compares the CPU time of each part between quiet, a run
of events without findings, and a run of findings; writes docs/reports/parts.json. Takes fourteen
minutes.
"""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import psutil

from services.machine.waiting import now_seconds
from services.simulator.report import Report
from tests.acceptance.counts import reconcile
from tests.acceptance.system import CHANNELS, System
from tests.bench.facts import machine_line
from tests.bench.sizing.figures import PARTS_FILE

PARTS: Final[Mapping[str, str]] = {
    "gateway": "services.gateway",
    "broker": "kafka.Kafka",
    "auditors": "-m auditor",
    "archivist": "-m archivist",
    "lookout": "services.lookout",
    "deliverers": "services.deliverer",
    "postgres": "postgres",
}
"""What the command line of a part's first process has; all that it starts belongs to it."""
OTHERS: Final = "others"
QUIET_SECONDS: Final = 60.0
"""Longer than what the system does again and again takes to come again, and what a run leaves."""
WARM_UP: Final = ("--orders", "3000", "--rate", "1500", "--over-share", "0.02")
EVENTS: Final = ("--orders", "150000", "--rate", "2500", "--over-share", "0")
FINDINGS: Final = ("--orders", "2400", "--rate", "60", "--over-share", "1")

Seconds = dict[str, float]


@dataclass(frozen=True)
class Parts:
    """What was measured: CPU time in µs, PSS in MiB."""

    events: int
    alerts: int
    deliveries: int
    cpu_us_per_event: dict[str, float]
    cpu_us_per_alert: dict[str, float]
    idle_cores: dict[str, float]
    memory_mebibytes: dict[str, float]
    cores: int
    load_average: float
    machine: str


def part_of(command: str) -> str:
    """Return the part that a command line belongs to."""
    return next((name for name, text in PARTS.items() if text in command), OTHERS)


def processes(system: System) -> Iterator[tuple[str, psutil.Process]]:
    """Return every process with its part; what a part has started belongs to it."""
    for first in system.process.children():
        name = part_of(" ".join(first.cmdline()))
        yield from ((name, each) for each in (first, *first.children(recursive=True)))


def cpu(system: System) -> Seconds:
    """Return the CPU seconds that each part has used so far."""
    used = dict.fromkeys((*PARTS, OTHERS), 0.0)
    for name, process in processes(system):
        with ended_is_nothing():
            times = process.cpu_times()
            used[name] += times.user + times.system
    return used


def memory(system: System) -> dict[str, float]:
    """Return the MiB of each part; what several share is divided among them."""
    held = dict.fromkeys((*PARTS, OTHERS), 0.0)
    for name, process in processes(system):
        with ended_is_nothing():
            held[name] += process.memory_full_info().pss / 1024**2
    return {name: round(value) for name, value in held.items()}


@contextmanager
def ended_is_nothing() -> Iterator[None]:
    """Let a process end while it is looked at."""
    try:
        yield
    except psutil.NoSuchProcess:
        return


@dataclass(frozen=True)
class Span:
    """What was used in some time."""

    seconds: float
    used: Seconds

    def beyond(self, idle: Seconds) -> Seconds:
        """Return what was used more than when nothing came."""
        return {
            name: max(0.0, value - idle[name] * self.seconds) for name, value in self.used.items()
        }


class Watch:
    """Measures from its making on."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._begun, self._before = now_seconds(), cpu(system)

    def span(self) -> Span:
        """Return what was used since then."""
        after = cpu(self._system)
        used = {name: after[name] - self._before[name] for name in after}
        return Span(now_seconds() - self._begun, used)


def run(system: System, dials: tuple[str, ...], seed: str) -> tuple[Report, Span]:
    """Send a run; return what it took, with what was put off until all of it had been settled."""
    watch = Watch(system)
    report = system.simulate(*dials, "--seed", seed).finish(400)
    reconcile(system, report)
    system.pause(QUIET_SECONDS)
    return report, watch.span()


def measure(system: System) -> Parts:
    """Measure a running system."""
    run(system, WARM_UP, "1")
    quiet = Watch(system)
    system.pause(QUIET_SECONDS)
    rest = quiet.span()
    idle = {name: value / rest.seconds for name, value in rest.used.items()}
    report, span = run(system, EVENTS, "2")
    found, alerting = run(system, FINDINGS, "3")
    per_event, per_alert = span.beyond(idle), alerting.beyond(idle)
    return Parts(
        events=report.sent,
        alerts=found.expected_alerts,
        deliveries=found.expected_alerts * len(CHANNELS),
        cpu_us_per_event=_each(per_event, report.sent),
        cpu_us_per_alert=_each(per_alert, found.expected_alerts),
        idle_cores={name: round(value, 3) for name, value in idle.items()},
        memory_mebibytes=memory(system),
        cores=os.cpu_count() or 1,
        load_average=round(os.getloadavg()[0], 1),
        machine=machine_line(),
    )


def _each(seconds: Seconds, count: int) -> dict[str, float]:
    return {name: round(value * 1e6 / count, 2) for name, value in seconds.items()}


def main() -> int:
    """Measure, and write the report."""
    with TemporaryDirectory() as folder:
        system = System(Path(folder) / "home", channels=CHANNELS, deliverers=2)
        try:
            system.start()
            parts = measure(system)
        finally:
            system.stop()
    PARTS_FILE.write_text(json.dumps(asdict(parts), indent=1) + "\n", "utf-8")
    sys.stdout.write(PARTS_FILE.read_text("utf-8"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
