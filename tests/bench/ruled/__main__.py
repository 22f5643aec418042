"""`python -m tests.bench.ruled`: latency and drained rate at 10, 1,000 and 10,000 rules."""

import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from tests.bench import facts
from tests.bench.drain import DrainRow, drain, write_backlog
from tests.bench.engine import ROOT, Engine, Scene
from tests.bench.engines.auditors import single
from tests.bench.latency import LatencyRow, Pace, visit
from tests.bench.sections.course import bench_topics, say
from tests.bench.stores import running_broker

WATCH = Path(__file__).with_name("limits.yaml")
REPORT = ROOT / "docs" / "reports" / "rules.md"
COUNTS = (10, 1_000, 10_000)
THERE_AND_BACK = (*COUNTS, *reversed(COUNTS))
PACE = Pace(rates=(1_000,), seconds=30.0, warm_up_seconds=30.0, probes_per_second=100.0)
BACKLOG = 2_000_000
BATCH_SECONDS = 600.0
"""Longer than a visit: what a boundary costs does not depend on rules."""


def main() -> int:
    """Measure every count of rules, there and back, and write the report."""
    latencies: list[tuple[int, LatencyRow]] = []
    drains: list[tuple[int, DrainRow]] = []
    for count in THERE_AND_BACK:
        say(f"latency with {count} rules")
        latencies.append((count, latency(count)))
    say(f"draining {BACKLOG} events")
    drains = drained()
    REPORT.write_text(report(latencies, drains))
    sys.stdout.write(REPORT.read_text())
    return 0


def latency(count: int) -> LatencyRow:
    """Probe one auditor under load."""
    with running_broker(bench_topics()) as broker:
        scene = Scene(broker.bootstrap, broker.home / "ruled", WATCH, BATCH_SECONDS)
        return visit("single", 0, partial(ruled, count=count), scene, broker, PACE)[0]


def drained() -> list[tuple[int, DrainRow]]:
    """Let one auditor drain the same topic with each count of rules, there and back."""
    rows = []
    with running_broker(bench_topics()) as broker:
        backlog = write_backlog(broker.bootstrap, BACKLOG, 2)
        for count in THERE_AND_BACK:
            with tempfile.TemporaryDirectory() as home:
                scene = Scene(broker.bootstrap, Path(home), WATCH, BATCH_SECONDS)
                start = partial(ruled, count=count)
                rows.append((count, drain("single", start, scene, broker, backlog, False)))
    return rows


@contextmanager
def ruled(scene: Scene, count: int) -> Iterator[Engine]:
    """Run one auditor whose table has this many rules; one of them fits the traffic."""
    folder = scene.home / "watches"
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["client,stock,part", "Baker Fund,ACME,1"]
    lines += [f"Client {number},ACME,1" for number in range(count - 1)]
    (folder / "limits.csv").write_text("\n".join(lines) + "\n")
    with single(scene) as engine:
        yield engine


def report(
    latencies: Sequence[tuple[int, LatencyRow]], drains: Sequence[tuple[int, DrainRow]]
) -> str:
    """Return the page."""
    lines = [
        "# What a table of rules costs",
        "",
        "One auditor, one watch that joins `rules` behind its GROUP BY",
        "(`tests/bench/ruled/limits.yaml`); broker, load and probes on the same cores. Visits go",
        "there and back. `PYTHONPATH=.:spark-apps .tools/venv/bin/python -m tests.bench.ruled`",
        "",
        f"{facts.machine_line()} Ended {facts.now()['at']}.",
        "",
        f"Latency at {PACE.rates[0]:,} events/s, no batch boundary inside, ms:",
        "",
        "| rules | probes | missing | p50 | p99 | p99.9 | max | echo p50 | echo p99 | load |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for count, row in latencies:
        seen, echo = row.alert, row.echo
        lines.append(
            f"| {count:,} | {row.probes} | {row.missing} | {seen.p50_ms} | {seen.p99_ms} | "
            f"{seen.p999_ms} | {seen.max_ms} | {echo.p50_ms} | {echo.p99_ms} | {row.load_average} |"
        )
    lines += [
        "",
        f"Draining {BACKLOG:,} events:",
        "",
        "| rules | events/s | warm events/s | CPU µs per event | memory MiB | load average |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {count:,} | {row.events_per_second:,} | {row.warm_events_per_second:,} | "
        f"{row.cpu_us_per_event} | {row.memory_mebibytes} | {row.load_average} |"
        for count, row in drains
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
