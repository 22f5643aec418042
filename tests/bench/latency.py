"""How soon an engine alerts under an open-loop load, beside an echo of the same probes.

One visit: the engine starts on a broker of its own, is warmed up at the highest rate, and is then
measured at each rate. Visits go through the engines in turn and back again (A-B-B-A), so that a
machine that grows slower or faster harms all of them alike.
"""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from services.contracts.topics import ALERTS
from services.machine.supervision.child import leashed
from tests.bench.drain import STREAM, write_markers
from tests.bench.engine import ROOT, Engine, Scene, Start, Usage
from tests.bench.kills import BOUNDARY_MARGIN_NS, Kills, kills_of
from tests.bench.load import client
from tests.bench.markers import Markers
from tests.bench.percentiles import Latency, summary
from tests.bench.probe import Found, Prober
from tests.bench.stores import Broker
from tests.bench.traffic import probe_order

ECHO = "echo"
SLOW_NS = 40_000_000
FIRST_ALERT_TIMEOUT_SECONDS = 180
SETTLE_SECONDS = 3.0
"""Between the start of a load and its first probe that counts."""


@dataclass(frozen=True, slots=True)
class Pace:
    """What is offered: events per second, one after the other, with probes on top."""

    rates: tuple[int, ...]
    seconds: float
    warm_up_seconds: float
    probes_per_second: float


@dataclass(frozen=True)
class LatencyRow:
    """One engine at one rate in one visit; processor time is in cores, by component.

    `missing` probes had no alert, `again` counts alerts beyond a probe's first (dropped downstream
    by their id), `strange` alerts of orders that must not alert. `slow_share` of the probes had no
    alert within 40 ms; `kills` is there where parts were killed.
    """

    engine: str
    visit: int
    rate: int
    probes: int
    missing: int
    again: int
    strange: int
    alert: Latency
    between_boundaries: Latency
    echo: Latency
    boundaries: int
    cores: dict[str, float]
    engine_memory_mebibytes: int
    load: dict[str, float]
    load_average: float
    slow_share: float | None = None
    kills: Kills | None = None


def visit(
    name: str, number: int, start: Start, scene: Scene, broker: Broker, pace: Pace
) -> list[LatencyRow]:
    """Run the engine once, and measure it at each rate."""
    with start(scene) as engine:
        with Markers(broker.bootstrap, ALERTS) as markers:
            write_markers(client(broker.bootstrap), 0, 1)
            markers.wait({probe_order("m", 0)}, FIRST_ALERT_TIMEOUT_SECONDS)
        _warm_up(broker.bootstrap, pace)
        return [_measured(name, number, engine, broker, pace, rate) for rate in pace.rates]


def _warm_up(bootstrap: str, pace: Pace) -> None:
    """Load and probe as when it counts: Java undoes at the first alert what it compiled without."""
    seconds = pace.warm_up_seconds + SETTLE_SECONDS
    load = _start_load(bootstrap, "warm", max(pace.rates), seconds)
    _prober(bootstrap, "warm", pace, pace.warm_up_seconds).measure()
    load.communicate(timeout=pace.warm_up_seconds + 60)


def _prober(bootstrap: str, run: str, pace: Pace, seconds: float) -> Prober:
    return Prober(bootstrap, STREAM, ALERTS, ECHO, run, pace.probes_per_second, seconds)


def _measured(
    name: str, number: int, engine: Engine, broker: Broker, pace: Pace, rate: int
) -> LatencyRow:
    seconds = pace.seconds + SETTLE_SECONDS + 6
    load = _start_load(broker.bootstrap, f"load{rate}", rate, seconds)
    time.sleep(SETTLE_SECONDS)
    meters: dict[str, Callable[[], Usage]] = {
        "engine": engine.usage,
        "broker": broker.usage,
        "probes": _own_usage,
        "stolen": _stolen,
    }
    before, started = {each: use() for each, use in meters.items()}, time.monotonic()
    with engine.killing(pace.seconds) as kills:
        found = _prober(broker.bootstrap, f"r{rate}", pace, pace.seconds).measure()
    elapsed = time.monotonic() - started
    after = {each: use() for each, use in meters.items()}
    average = float(Path("/proc/loadavg").read_text().split()[0])
    said = json.loads(load.communicate(timeout=300)[0])
    cores = {each: _cores(before[each], after[each], elapsed) for each in meters}
    cores["load"] = round(said.pop("cpu_seconds") / said.pop("seconds"), 2)
    inside = inside_run(found, engine.boundaries_ns())
    return LatencyRow(
        engine=name,
        visit=number,
        rate=rate,
        probes=len(found.intended_ns),
        missing=len(found.intended_ns) - len(found.alert_ns),
        again=found.again,
        strange=found.strange,
        alert=summary(list(found.alert_latencies().values())),
        between_boundaries=summary(between(found, inside)),
        echo=summary(list(found.echo_latencies().values())),
        boundaries=len(inside),
        cores=cores,
        engine_memory_mebibytes=after["engine"].memory_mebibytes,
        load={name: float(value) for name, value in said.items()},
        load_average=average,
        slow_share=slow_share(found),
        kills=kills_of(found, kills, inside),
    )


def _own_usage() -> Usage:
    """Return what this process used by itself: everything else that is measured is its child."""
    own = psutil.Process()
    return Usage(sum(own.cpu_times()[:2]), own.memory_info().rss // 2**20)


def _stolen() -> Usage:
    """Return what others on the same hardware took of this machine's processors since it began."""
    return Usage(float(getattr(psutil.cpu_times(), "steal", 0.0)), 0)


def _cores(before: Usage, after: Usage, seconds: float) -> float:
    return round((after.cpu_seconds - before.cpu_seconds) / seconds, 2)


def inside_run(found: Found, ends_ns: Sequence[int]) -> list[int]:
    """Return the boundaries between the first and the last probe."""
    first, last = min(found.intended_ns.values()), max(found.intended_ns.values())
    return [end for end in ends_ns if first <= end <= last]


def between(found: Found, inside_ns: Sequence[int]) -> list[int]:
    """Return the latencies of probes that were sent a second or more from every boundary."""
    return [
        taken
        for index, taken in found.alert_latencies().items()
        if all(abs(found.intended_ns[index] - end) > BOUNDARY_MARGIN_NS for end in inside_ns)
    ]


def slow_share(found: Found) -> float:
    """Return the share of probes that had no alert within 40 ms."""
    in_time = sum(taken <= SLOW_NS for taken in found.alert_latencies().values())
    return round(1 - in_time / len(found.intended_ns), 6)


def _start_load(bootstrap: str, run: str, rate: int, seconds: float) -> "subprocess.Popen[str]":
    """Start the background load as a process of its own, which ends with ours."""
    command = [sys.executable, "-m", "tests.bench.load", "--bootstrap", bootstrap]
    command += ["--topic", STREAM, "--run", run, "--rate", str(rate)]
    command += ["--seconds", str(seconds)]
    command = leashed(command, signal.SIGKILL)
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
