"""Apache Flink as a peer: the same rule in its DataStream API, one process, as our auditor is."""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psutil

from services.machine.supervision import child
from services.machine.supervision.programs import Program
from services.machine.waiting import wait_until
from tests.bench.engine import ROOT, SHIPPED, Engine, Kill, Scene, Unavailable, Usage, usage_of
from tests.bench.engines.java import compiled
from tests.said import whole_lines, written_to

START_TIMEOUT_SECONDS = 120
HEAP = "1g"
JAVA_OPTIONS = ROOT / "spark-apps" / "engine" / "java-options"
"""Both engines have the collector and the pages that were found best for ours."""
NEW_RATIO = "-XX:NewRatio=2"
"""Java's own: Flink keeps state on its heap, and half of it for new objects would slow it down."""
# Flink's own launch scripts open these packages to its serializers.
OPENED = ("java.base/java.util", "java.base/java.lang", "java.base/java.nio")


@dataclass(frozen=True)
class Job:
    """A running Flink job in a process of its own."""

    process: psutil.Process
    log_file: Path

    def usage(self) -> Usage:
        """Return what the process has used."""
        return usage_of([self.process])

    def boundaries_ns(self) -> list[int]:
        """Return when checkpoints were complete, from the job's output."""
        offset_ns = time.time_ns() - time.monotonic_ns()
        lines = whole_lines(written_to(self.log_file))
        ended = [line.split()[1] for line in lines if line.startswith("checkpoint ")]
        return [int(at_ms) * 1_000_000 - offset_ns for at_ms in ended]

    def killing(self, seconds: float) -> AbstractContextManager[Sequence[Kill]]:
        """Kill nothing."""
        return nullcontext(())


@contextmanager
def flink(scene: Scene, state: str) -> Iterator[Engine]:
    """Run the job with state `hashmap` or `rocksdb`, until the end of the block."""
    if scene.watch != SHIPPED:
        raise Unavailable(f"the Flink job runs the shipped rule only, not {scene.watch.stem}")
    built, log_file = compiled(), scene.home / "log" / "flink.log"
    command = (
        str(built.java),
        f"@{JAVA_OPTIONS}",
        NEW_RATIO,
        f"-Xmx{HEAP}",
        *(f"--add-opens={package}=ALL-UNNAMED" for package in OPENED),
        "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
        *("-cp", built.class_path, "bench.OverPurchase", scene.bootstrap, state),
        *(str(scene.home), str(int(scene.batch_seconds)), str(scene.partitions)),
    )
    running = child.start(Program("flink", command), log_file, os.environ)
    try:
        told = f"Flink to run its job; see {log_file}"
        wait_until(
            lambda: "running" in log_file.read_text() or running.exit_code is not None,
            START_TIMEOUT_SECONDS,
            told,
        )
        if running.exit_code is not None:
            raise RuntimeError(f"Flink ended: {log_file.read_text()[-2000:]}")
        yield Job(psutil.Process(running.process.pid), log_file)
    finally:
        running.stop()


heap = partial(flink, state="hashmap")
rocksdb = partial(flink, state="rocksdb")
