"""`python -m tests.bench.rebuild`: how long an auditor takes from an empty state, and from its own.

For each count of kept events: an auditor with no checkpoint is started, and timed until it raises
the alert of the last kept event; then it is killed with SIGKILL, an order crosses, and the auditor
is timed from its start on its own checkpoint until it raises that.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from services.contracts.topics import ALERTS
from services.machine.waiting import now_seconds, wait_until
from tests.bench import facts
from tests.bench.drain import ROWS, Backlog, write_backlog, write_markers
from tests.bench.engine import ROOT, Scene
from tests.bench.engines.auditors import alone, running
from tests.bench.load import client
from tests.bench.markers import Markers
from tests.bench.sections.course import bench_topics, say
from tests.bench.stores import Broker, running_broker

REPORT = ROOT / "docs" / "reports" / "rebuild.md"
COUNTS = (10_000, 1_000_000, 3_000_000)
PARTITIONS = 2
BATCH_SECONDS = 10.0
TIMEOUT_SECONDS = 400
ROW_AFTER = ROWS + 1
"""Row of markers that are written after the kill; the backlog has the rows before."""
HEAD = """# How long an auditor takes to build its state again

Made by `PYTHONPATH=.:spark-apps .tools/venv/bin/python -m tests.bench.rebuild`. One auditor with
the shipped `over-purchase` watch, two partitions, batches of {batch:g} s, the broker on the same
cores. Times count from the start of the program, so Spark's own start is in all of them.

- **ready**: the first start, until `/healthz/ready` is good.
- **built**: until the alert of the last kept event is in topic `alerts`.
- **events/s**: the kept events by the time from ready to built; Spark reads before it is ready, so
  small counts say nothing.
- **again**: killed with SIGKILL and started on its own checkpoint, until it raises what crossed
  meanwhile.

{machine}

| kept events | ready s | built s | events/s | again s | memory MiB | at | load average |
|--:|--:|--:|--:|--:|--:|---|---|
"""


@dataclass(frozen=True)
class Row:
    """One count of kept events."""

    events: int
    ready_seconds: float
    built_seconds: float
    again_seconds: float
    memory_mebibytes: int
    now: dict[str, str]

    def shown(self) -> str:
        """Return the line of the table."""
        reading = self.built_seconds - self.ready_seconds
        rate = f"{self.events / reading:,.0f}" if reading > 1 else "-"
        times = f"{self.ready_seconds:.1f} | {self.built_seconds:.1f} | {rate}"
        return (
            f"| {self.events:,} | {times} | {self.again_seconds:.1f} | {self.memory_mebibytes:,} | "
            f"{self.now['at']} | {self.now['load_average']} |"
        )


def main(arguments: Sequence[str]) -> int:
    """Measure each count and write the report."""
    parser = argparse.ArgumentParser("python -m tests.bench.rebuild", description=__doc__)
    parser.add_argument("--events", type=int, nargs="+", default=COUNTS, help="kept events")
    parser.add_argument("--report", type=Path, default=REPORT, help="where to write it")
    told = parser.parse_args(arguments)
    text = HEAD.format(batch=BATCH_SECONDS, machine=facts.machine_line())
    for events in told.events:
        say(f"rebuilding from {events} events")
        text += measured(events).shown() + "\n"
        told.report.write_text(text)
    sys.stdout.write(text)
    return 0


def measured(events: int) -> Row:
    """Measure one count on a broker of its own."""
    with running_broker(bench_topics(PARTITIONS)) as broker, tempfile.TemporaryDirectory() as home:
        backlog = write_backlog(broker.bootstrap, events, PARTITIONS)
        scene = Scene(broker.bootstrap, Path(home), batch_seconds=BATCH_SECONDS)
        now = facts.now()
        ready, built, memory = from_empty(scene, broker, backlog)
        again = from_checkpoint(scene, broker, backlog)
        return Row(events, ready, built, again, memory, now)


def from_empty(scene: Scene, broker: Broker, backlog: Backlog) -> tuple[float, float, int]:
    """Return seconds until ready and until built, and the memory used; then kill the auditor."""
    with Markers(broker.bootstrap, ALERTS) as markers:
        begun = now_seconds()
        with running(scene, alone(scene)) as (auditor,):
            ready = now_seconds() - begun
            markers.wait(backlog.markers(ROWS), TIMEOUT_SECONDS)
            built = now_seconds() - begun
            memory = auditor.usage().memory_mebibytes
            committed = len(auditor.boundaries_ns())
            wait_until(
                lambda: len(auditor.boundaries_ns()) > committed,
                TIMEOUT_SECONDS,
                "no batch is committed",
            )
            auditor.kill()
    return ready, built, memory


def from_checkpoint(scene: Scene, broker: Broker, backlog: Backlog) -> float:
    """Return seconds from a start on the checkpoint until what crossed meanwhile is raised."""
    write_markers(client(broker.bootstrap), ROW_AFTER * PARTITIONS, PARTITIONS)
    with Markers(broker.bootstrap, ALERTS) as markers:
        begun = now_seconds()
        with running(scene, alone(scene)):
            markers.wait(backlog.markers(ROW_AFTER), TIMEOUT_SECONDS)
            return now_seconds() - begun


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
