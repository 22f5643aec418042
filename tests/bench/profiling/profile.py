"""What each step of a watch costs: one auditor, sampled in the second half of a backlog."""

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Final

import psutil

from services.contracts.topics import ALERTS
from tests.bench.drain import (
    QUIET_SECONDS,
    WARM_ROW,
    Backlog,
    disagreement,
    headway_of,
    load_average,
    rows_passed,
)
from tests.bench.engine import Scene
from tests.bench.engines import auditors
from tests.bench.engines.auditors import Auditor
from tests.bench.markers import Markers
from tests.bench.profiling.profiler import profiler_of
from tests.bench.profiling.steps import PYTHON, counted

SAMPLED_ROWS: Final = 4
"""Sampling ends a tenth before the end of the backlog, as one partition may end before another."""
SEES_INLINED: Final = {"JDK_JAVA_OPTIONS": "-XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints"}
"""Else a method that Java compiled into its caller is taken for what stands beside it."""


@dataclass(frozen=True)
class ProfileRow:
    """One visit: CPU µs per event by step, all of an auditor together, largest first.

    `agrees` tells whether it found exactly what the rule says among the orders in disorder.
    """

    watch: str
    events: int
    samples: int
    cpu_us_per_event: float
    steps: dict[str, float]
    agrees: bool
    load_average: float
    visit: int


@dataclass(frozen=True, slots=True)
class _Moment:
    at_ns: int
    java_seconds: float
    whole_seconds: float


@dataclass(frozen=True, slots=True)
class Spell:
    """What was seen in a while: events that were taken, samples by step, and CPU seconds."""

    events: float
    samples: Counter[str]
    java_seconds: float
    whole_seconds: float

    def steps(self) -> dict[str, float]:
        """Return the CPU µs per event of each step, largest first, with Python at the end.

        Raises:
            RuntimeError: it was over before anything was seen.
        """
        if not self.samples or self.events < 1:
            raise RuntimeError("nothing was sampled: take a larger --backlog")
        shared = shared_out(self.samples, self.java_seconds * 1e6 / self.events)
        python_seconds = self.whole_seconds - self.java_seconds
        return shared | {PYTHON: round(python_seconds * 1e6 / self.events, 3)}


def profile(scene: Scene, backlog: Backlog, visit: int) -> ProfileRow:
    """Start an auditor on the full topic and sample it from its sixth to its ninth tenth.

    Raises:
        Unavailable: the machine lacks a JDK or the profiler.
        RuntimeError: the backlog is too small to see anything.
    """
    seeing = replace(scene, settings={**scene.settings, **SEES_INLINED})
    with (
        Markers(scene.bootstrap, ALERTS) as markers,
        auditors.running(seeing, auditors.alone(seeing)) as (auditor,),
    ):
        spell = _sampled(auditor, markers, backlog, scene.home / "samples.txt")
        load, found = load_average(), markers.settle(QUIET_SECONDS)
    return ProfileRow(
        watch=scene.watch.stem,
        events=round(spell.events),
        samples=spell.samples.total(),
        steps=spell.steps(),
        cpu_us_per_event=round(spell.whole_seconds * 1e6 / spell.events, 2),
        agrees=not disagreement(found, backlog),
        load_average=load,
        visit=visit,
    )


def _sampled(auditor: Auditor, markers: Markers, backlog: Backlog, file: Path) -> Spell:
    java = java_of(auditor)
    profiler, rows = profiler_of(java.pid), rows_passed(markers, backlog)
    passed = list(islice(rows, WARM_ROW + 1))
    profiler.begin()
    begun = _moment(auditor, java)
    passed += islice(rows, SAMPLED_ROWS)
    ended = _moment(auditor, java)
    samples = counted(profiler.end(file))
    headway = headway_of([*passed, *rows], backlog)
    return Spell(
        events=headway.events_by(ended.at_ns) - headway.events_by(begun.at_ns),
        samples=samples,
        java_seconds=ended.java_seconds - begun.java_seconds,
        whole_seconds=ended.whole_seconds - begun.whole_seconds,
    )


def shared_out(samples: Mapping[str, int], cpu_us: float) -> dict[str, float]:
    """Divide the processor time that Java took by the samples of each step, largest first."""
    total = sum(samples.values())
    ordered = sorted(samples.items(), key=lambda each: -each[1])
    return {step: round(cpu_us * count / total, 3) for step, count in ordered}


def java_of(auditor: Auditor) -> psutil.Process:
    """Return the Java process that an auditor has started; it has one."""
    children = psutil.Process(auditor.running.process.pid).children(recursive=True)
    (java,) = (each for each in children if each.name() == "java")
    return java


def _moment(auditor: Auditor, java: psutil.Process) -> _Moment:
    used = java.cpu_times()
    return _Moment(time.monotonic_ns(), used.user + used.system, auditor.usage().cpu_seconds)
