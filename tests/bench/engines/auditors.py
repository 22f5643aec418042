"""Our own engines: one auditor, a staggered pair of them, and the same query in micro-batches."""

import os
import shutil
import signal
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

import psutil

from services.machine.installation import setup
from services.machine.ports import free_ports
from services.machine.supervision import child
from services.machine.supervision.child import Child
from services.machine.supervision.cores import ALL, Cores, cores_here, halves
from services.machine.supervision.programs import Program
from services.machine.waiting import wait_until
from tests.bench.engine import ROOT, Engine, Kill, Scene, Usage, usage_of
from tests.said import said, written_to

START_TIMEOUT_SECONDS = 120


@dataclass(frozen=True)
class Part:
    """An auditor to start: its settings, and the processors that it keeps to."""

    settings: Mapping[str, str]
    cores: Cores = ALL


@dataclass
class Auditor:
    """An auditor, which runs unless it was killed; `spent_cpu_seconds` is of its earlier lives."""

    running: Child
    http_port: int
    log_file: Path
    spent_cpu_seconds: float = 0.0

    @property
    def name(self) -> str:
        """What its alerts call it."""
        return self.running.program.environment["ALDEBARAN_AUDITOR_ID"]

    def kill(self) -> int:
        """End the auditor and its Java with SIGKILL; return when, on the monotonic clock."""
        self.spent_cpu_seconds = self.usage().cpu_seconds
        at_ns = time.monotonic_ns()
        os.killpg(self.running.group, signal.SIGKILL)
        self.running.end(0)
        return at_ns

    def start_again(self) -> None:
        """Start the killed auditor on its checkpoint, with the settings that it had."""
        self.running = child.start(self.running.program, self.log_file, os.environ)

    def usage(self) -> Usage:
        """Return what the auditor and its children have used, earlier lives included."""
        now = usage_of([psutil.Process(self.running.process.pid)])
        return replace(now, cpu_seconds=now.cpu_seconds + self.spent_cpu_seconds)

    def boundaries_ns(self) -> list[int]:
        """Return when batches ended, from the auditor's log."""
        offset_ns = time.time_ns() - time.monotonic_ns()
        return [at_ms * 1_000_000 - offset_ns for at_ms in batches_ended_ms(self.log_file)]

    def is_ready(self) -> bool:
        """Tell whether the auditor says that it is ready."""
        url = f"http://127.0.0.1:{self.http_port}/healthz/ready"
        try:
            with urllib.request.urlopen(url, timeout=2) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False


def batches_ended_ms(log_file: Path) -> list[int]:
    """Return when batches ended, from the auditor's log."""
    return [int(one["ended_at_ms"]) for one in said(written_to(log_file), "batch")]


def pauses_seconds(log_file: Path) -> list[float]:
    """Return how long the auditor read nothing between two batches, each time, from its log."""
    return [float(one["pause_seconds"]) for one in said(written_to(log_file), "boundary")]


@dataclass(frozen=True)
class Together:
    """Several auditors that watch the same."""

    auditors: Sequence[Auditor]

    def usage(self) -> Usage:
        """Return what all of them have used."""
        used = [each.usage() for each in self.auditors]
        return Usage(
            sum(each.cpu_seconds for each in used), sum(each.memory_mebibytes for each in used)
        )

    def boundaries_ns(self) -> list[int]:
        """Return when any of them ended a batch."""
        return sorted(end for each in self.auditors for end in each.boundaries_ns())

    def killing(self, seconds: float) -> AbstractContextManager[Sequence[Kill]]:
        """Kill none."""
        return nullcontext(())


@contextmanager
def single(scene: Scene) -> Iterator[Engine]:
    """Run one auditor."""
    with running(scene, alone(scene)) as auditors:
        yield Together(auditors)


@contextmanager
def pair(scene: Scene) -> Iterator[Engine]:
    """Run two auditors whose batches end half a batch apart, each on its half of the processors."""
    with running(scene, two_apart(scene)) as auditors:
        yield Together(auditors)


@contextmanager
def pair_together(scene: Scene) -> Iterator[Engine]:
    """Run two auditors whose batches end half a batch apart, both on all processors."""
    with running(scene, two(scene, (ALL, ALL))) as auditors:
        yield Together(auditors)


@contextmanager
def micro_batch(scene: Scene) -> Iterator[Engine]:
    """Run the auditor's query with Spark's micro-batch trigger, one after the other."""
    with running(scene, alone(scene), "tests.bench.engines.micro_batch") as auditors:
        yield Together(auditors)


def alone(scene: Scene) -> list[Part]:
    """Return one auditor."""
    return [Part(_settings(scene, "a"))]


def two_apart(scene: Scene) -> list[Part]:
    """Return two auditors as `make run` has them: each on its half of the processors."""
    return two(scene, halves(cores_here()))


def two(scene: Scene, cores: tuple[Cores, Cores]) -> list[Part]:
    """Return two auditors whose batches end half a batch apart."""
    half = {"ALDEBARAN_AUDITOR_PHASE": "0.5"}
    return [Part(_settings(scene, "a"), cores[0]), Part(_settings(scene, "b") | half, cores[1])]


def _settings(scene: Scene, auditor_id: str) -> dict[str, str]:
    """Return the settings of one auditor that runs the scene's watch alone."""
    return {
        "ALDEBARAN_KAFKA_BOOTSTRAP_SERVERS": scene.bootstrap,
        "ALDEBARAN_AUDITOR_ID": auditor_id,
        "ALDEBARAN_AUDITOR_WATCHES": str(_watches(scene)),
        "ALDEBARAN_AUDITOR_CHECKPOINTS": str(scene.home / "checkpoints"),
        "ALDEBARAN_AUDITOR_BATCH_SECONDS": str(scene.batch_seconds),
        "ALDEBARAN_AUDITOR_SHUFFLE_PARTITIONS": str(scene.partitions),
        **scene.settings,
    }


def _watches(scene: Scene) -> Path:
    folder = scene.home / "watches"
    watch = folder / scene.watch.name
    if not watch.exists():  # who starts again on a checkpoint must find the same rule
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(scene.watch, watch)
    return folder


@contextmanager
def running(
    scene: Scene, parts: Sequence[Part], module: str = "auditor"
) -> Iterator[list[Auditor]]:
    """Run `python -m module` once per part, from ready until the end of the block."""
    with ExitStack() as closing:
        started = [closing.enter_context(_started(scene, part, module)) for part in parts]
        for each in started:
            told = f"the auditor to be ready; see {each.log_file}"
            wait_until(each.is_ready, START_TIMEOUT_SECONDS, told)
        yield started


@contextmanager
def _started(scene: Scene, part: Part, module: str) -> Iterator[Auditor]:
    port = free_ports(1)[0]
    tools = ROOT / os.environ.get("ALDEBARAN_TOOLS", ".tools")
    environment = {
        "PYTHONPATH": f"{ROOT}:{ROOT / 'spark-apps'}",
        "JAVA_HOME": str(setup.required_java(os.environ).parents[1]),
        "ALDEBARAN_HTTP_PORT": str(port),
        "ALDEBARAN_AUDITOR_JARS": str(setup.jars_folder(tools, "spark")),
        **part.settings,
    }
    log_file = scene.home / "log" / f"auditor-{part.settings['ALDEBARAN_AUDITOR_ID']}.log"
    command = (sys.executable, "-m", module)
    program = Program("auditor", command, environment=environment, cores=part.cores)
    auditor = Auditor(child.start(program, log_file, os.environ), port, log_file)
    try:
        yield auditor
    finally:
        auditor.running.stop()
