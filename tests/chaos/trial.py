"""One cell played: load and probe, the fault in its phase, then exact counts."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Protocol

from services.contracts.ids import alert_id
from services.machine.waiting import wait_until
from services.simulator.report import Report
from tests.acceptance.counts import alerted
from tests.acceptance.system import Simulation
from tests.chaos import cells, disks
from tests.chaos.cells import Cell, Fault, Phase, Workload
from tests.chaos.changes import CHANGES
from tests.chaos.counting import (
    SENDS_AT_ONCE,
    Counts,
    Message,
    count,
    in_vain,
    messages,
    settled,
)
from tests.chaos.probe import Probe, Sample, baseline, normal_again_ms, now_ms, quantile, steady
from tests.chaos.results import Outcome
from tests.chaos.stage import Stage

NORMAL_TIMEOUT_SECONDS = 300.0
PHASE_TIMEOUT_SECONDS = 240.0
STILL_SECONDS = 20.0
"""Beyond a consumer's session (6 s), a broker's (2 s) and a deliverer's lease (15 s)."""
CUT_SECONDS = 15.0
FULL_SECONDS = 15.0
SLOW_SECONDS = 75.0
"""Longer than an auditor's batch, so that one boundary falls into it."""
SLOW_WRITES_PER_SECOND = 10
LASTING_SECONDS = {
    Fault.NONE: 0.0,
    Fault.STOP: STILL_SECONDS,
    Fault.SILENT: CUT_SECONDS,
    Fault.RESET: CUT_SECONDS,
    Fault.FULL: FULL_SECONDS,
    Fault.SLOW: SLOW_SECONDS,
}
WARM_UP_PROBES = 1200
"""Sent before the first cell is judged, 5 minutes: for so long Java compiles what it has started,
and in its first minutes p95 has stayed alike at eight times what it came to be."""
BASELINE_LIMIT_PROBES = 600
"""A machine that other work disturbs may never be steady; then this many must do."""
BASELINE_TIMEOUT_SECONDS = 600.0
DIALS = ("--over-share", "0.3", "--duplicates", "0.1", "--disorder", "0.1")
LOADS = {
    Workload.STEADY: ("--rate", "40", *DIALS),
    Workload.BURST: ("--rate", "max", "--events", "6000", *DIALS),
}


class Programs(Protocol):
    """What runs, by name."""

    def programs(self) -> Mapping[str, Sequence[object]]:
        """Return the processes of each running program."""

    def auditors(self) -> list[str]:
        """Return the names of all auditors."""

    def leader(self) -> str:
        """Return the broker that leads the first partition of the events."""

    def controller(self) -> str:
        """Return the broker that decides who leads."""


class Trial:
    """One cell on a stage; `limit_ms` is what a normal probe may take, 0 in one that finds that
    out, of which the first `warm_up_probes` do not count."""

    def __init__(self, stage: Stage, cell: Cell, limit_ms: float, warm_up_probes: int = 0) -> None:
        self._stage = stage
        self._system = stage.system
        self._cell = cell
        self._limit_ms = limit_ms
        self._warm_up_probes = warm_up_probes
        number = stage.next_number()
        # No run of another simulator, named by its time in hexadecimal, ends like this.
        self._run = f"cell{number}"
        self._probe_name = f"p{number}"
        self._hit: tuple[str, ...] = ()
        self._load_runs = False
        self._in_vain: list[str] = []

    def play(self) -> Outcome:
        """Play the cell from when all is well until it is again; nothing is asserted here.

        What is waited for in vain after the fault stands beside the counts.
        """
        self._stage.wait_until_well()
        if cells.CENTRE in self._cell.hit:
            self._stage.lead_by_controller()
        before = messages(self._stage.received())
        probe = self._stage.probe(self._probe_name)
        try:
            load = self._system.simulate(
                *LOADS[self._cell.workload], "--seed", "1", "--run-id", self._run
            )
            try:
                fault_ms, mended_ms = self._disturb(load)
                self._wait(lambda: self._wait_normal(probe, fault_ms, mended_ms))
            finally:
                report = self._ended(load)
        finally:
            self._wait(probe.finish)
        counts = self._counted(report, probe, before)
        self._wait(self._stage.wait_until_well)
        counts = replace(counts, problem="; ".join(filter(None, self._in_vain)))
        return self._outcome(report, counts, probe, fault_ms, mended_ms)

    def _wait(self, wait: Callable[[], None]) -> None:
        self._in_vain.append(in_vain(wait))

    def _disturb(self, load: Simulation) -> tuple[int, int]:
        """Wait for the phase, then let the fault happen; return when it began and ended."""
        self._await_phase(load)
        self._hit = tuple(name for word in self._cell.hit for name in named(self._stage, word))
        self._load_runs = load.process.poll() is None
        begun = now_ms()
        if self._cell.fault is Fault.KILL:
            self._stage.kill(self._hit)
            return begun, begun
        if change := CHANGES.get(self._cell.fault):
            self._stage.change(change)
            return begun, now_ms()
        with self._outage():
            self._system.pause(lasting_seconds(self._cell))
        return begun, now_ms()

    def _outage(self) -> AbstractContextManager[None]:
        ways: dict[Fault, Callable[[], AbstractContextManager[None]]] = {
            Fault.NONE: nullcontext,
            Fault.STOP: lambda: self._stage.standing_still(self._hit),
            Fault.SILENT: lambda: self._stage.cut_off(self._hit, silent=True),
            Fault.RESET: lambda: self._stage.cut_off(self._hit, silent=False),
            Fault.FULL: lambda: disks.full(self._stage.disks.of(self._hit[0])),
            Fault.SLOW: lambda: disks.slow(
                self._stage.disks.of(self._hit[0]), SLOW_WRITES_PER_SECOND
            ),
        }
        return ways[self._cell.fault]()

    def _await_phase(self, load: Simulation) -> None:
        if self._cell.phase is Phase.START:
            self._system.wait_for(load.has_sent, "the load does not begin")
            return
        self._system.wait_for(
            lambda: bool(alerted(self._system, f"%{self._run}-%")), "no alert before the fault"
        )
        if self._cell.phase is Phase.BOUNDARY:
            before = self._batches()
            wait_until(lambda: self._batches() > before, PHASE_TIMEOUT_SECONDS, "no batch boundary")

    def _batches(self) -> float:
        """Return how many batches the auditor has committed that is hit, or the first one."""
        hit = next((name for name in self._cell.hit if name in self._stage.auditors()), "")
        return self._stage.batches(hit or self._stage.auditors()[0])

    def _wait_normal(self, probe: Probe, fault_ms: int, mended_ms: int) -> None:
        if not self._limit_ms:
            wait_until(
                lambda: enough(arrived(probe.samples())[self._warm_up_probes :]),
                BASELINE_TIMEOUT_SECONDS,
                "probes do not arrive",
            )
            return
        wait_until(
            lambda: self._normal(probe.samples(), fault_ms, mended_ms) is not None,
            NORMAL_TIMEOUT_SECONDS,
            f"latency does not get normal again: {self._cell.title}",
        )

    def _normal(self, samples: list[Sample], fault_ms: int, mended_ms: int) -> int | None:
        return normal_again_ms(samples, fault_ms, mended_ms, self._limit_ms)

    def _ended(self, load: Simulation) -> Report:
        if self._cell.workload is Workload.STEADY:
            load.process.terminate()
        return load.finish()

    def _counted(self, report: Report, probe: Probe, before: frozenset[Message]) -> Counts:
        expected = alerts_of(probe.accepted()) | set(report.expected_alert_ids)
        possible = alerts_of(probe.unanswered()) | alerts_of(report.doubtful_order_ids)
        runs = [f"%{self._run}-%", f"%{self._probe_name}-%"]
        self._wait(
            lambda: wait_until(
                lambda: settled(self._stage, runs, expected),
                NORMAL_TIMEOUT_SECONDS,
                f"not all is alerted and at rest: {self._cell.title}",
            )
        )
        held_limit = SENDS_AT_ONCE * self._cell.doubting
        return count(self._stage, runs, expected, before, possible, held_limit)

    def _outcome(
        self,
        report: Report,
        counts: Counts,
        probe: Probe,
        fault_ms: int,
        mended_ms: int,
    ) -> Outcome:
        samples = probe.samples()
        latencies = arrived(samples)
        if not self._limit_ms:
            latencies = list(baseline(latencies))
        judged = samples[self._warm_up_probes :]
        hit = [each for each in judged if not (self._limit_ms and each.had_arrived(fault_ms))]
        return Outcome(
            self._hit,
            accepted=report.accepted + 2 * len(probe.accepted()),
            counts=counts,
            probe_p95_ms=quantile(latencies, 0.95) if latencies else None,
            probe_worst_ms=max(arrived(hit), default=None),
            limit_ms=self._limit_ms,
            normal_again_ms=self._normal(samples, fault_ms, mended_ms) if self._limit_ms else 0,
            load_runs=self._load_runs,
            probes_never=sum(each.latency_ms is None for each in hit),
        )


def alerts_of(keys: Iterable[str]) -> frozenset[str]:
    """Return the alerts that over-purchases of these orders would be."""
    return frozenset(alert_id("over-purchase", [key]) for key in keys)


def lasting_seconds(cell: Cell) -> float:
    """Return how long a cell's fault lasts; an auditor writes to its disk at a boundary alone."""
    if cell.fault is Fault.FULL and any(name.split("-")[0] == "auditor" for name in cell.hit):
        return SLOW_SECONDS
    return LASTING_SECONDS[cell.fault]


def named(programs: Programs, word: str) -> list[str]:
    """Return the programs that a cell's word means; it is no trial if they do not run."""
    if word == cells.AUDITORS:
        found = programs.auditors()
    elif word == cells.LEADER:
        found = [programs.leader()]
    elif word in (cells.CONTROLLER, cells.CENTRE):
        found = [programs.controller()]
    elif word == cells.FOLLOWER:
        leader = programs.leader()
        found = [next(name for name in ("kafka-3", "kafka-2") if name != leader)]
    else:
        found = [word]
    assert set(found or [word]) <= programs.programs().keys(), f"does not run: {word}"
    return found


def enough(latencies_ms: list[int]) -> bool:
    """Tell whether an undisturbed cell has gone on long enough to judge others by it."""
    return steady(latencies_ms) or len(latencies_ms) >= BASELINE_LIMIT_PROBES


def arrived(samples: list[Sample]) -> list[int]:
    """Return the latencies of those that are there."""
    return [each.latency_ms for each in samples if each.latency_ms is not None]
