"""The auditor under test as a process of its own, and what it used."""

import os
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from services.machine import child, setup
from services.machine.ports import free_ports
from services.machine.programs import Program
from services.machine.waiting import wait_until

ROOT = Path(__file__).parents[2]
START_TIMEOUT_SECONDS = 120


@dataclass(frozen=True)
class Engine:
    """A running auditor."""

    process: psutil.Process
    http_port: int
    log_file: Path

    def cpu_seconds(self) -> float:
        """Return the processor time of the auditor and its children so far."""
        family = [self.process, *self.process.children(recursive=True)]
        times = [each.cpu_times() for each in family]
        return sum(each.user + each.system for each in times)

    def memory_mebibytes(self) -> int:
        """Return the resident memory of the auditor and its children."""
        family = [self.process, *self.process.children(recursive=True)]
        return sum(each.memory_info().rss for each in family) // 2**20

    def is_ready(self) -> bool:
        """Tell whether the auditor says that it is ready."""
        url = f"http://127.0.0.1:{self.http_port}/healthz/ready"
        try:
            with urllib.request.urlopen(url, timeout=2) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False


@contextmanager
def engine(
    bootstrap: str, home: Path, name: str, settings: Mapping[str, str], module: str = "auditor"
) -> Iterator[Engine]:
    """Run `python -m module` with these settings, from ready until the end of the block."""
    port = free_ports(1)[0]
    tools = ROOT / os.environ.get("ALDEBARAN_TOOLS", ".tools")
    environment = {
        "PYTHONPATH": f"{ROOT}:{ROOT / 'spark-apps'}",
        "JAVA_HOME": str(setup.required_java(os.environ).resolve().parents[1]),
        "ALDEBARAN_KAFKA_BOOTSTRAP_SERVERS": bootstrap,
        "ALDEBARAN_HTTP_PORT": str(port),
        "ALDEBARAN_AUDITOR_CHECKPOINTS": str(home / "checkpoints" / name),
        "ALDEBARAN_AUDITOR_JARS": str(setup.jars_folder(tools, "spark")),
        **settings,
    }
    log_file = home / "log" / f"{name}.log"
    program = Program(name=name, command=(sys.executable, "-m", module), environment=environment)
    running = child.start(program, log_file, os.environ)
    try:
        engine = Engine(psutil.Process(running.process.pid), port, log_file)
        wait_until(engine.is_ready, START_TIMEOUT_SECONDS, f"{name} to be ready; see {log_file}")
        yield engine
    finally:
        running.stop()
