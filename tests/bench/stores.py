"""A broker and a Postgres of a run's own, in a folder that goes away with it."""

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from services.backbone.kafka.admin import TopicAdmin
from services.backbone.settings import KafkaSettings
from services.contracts.topics import Topic
from services.machine.installation import setup
from services.machine.ports import free_ports
from services.machine.servers import broker, postgres
from services.machine.supervision import child
from tests.bench.engine import ROOT, Usage, usage_of


@dataclass(frozen=True, slots=True)
class Broker:
    """A running broker: its address, its process, and the run's folder."""

    bootstrap: str
    process: psutil.Process
    home: Path

    def usage(self) -> Usage:
        """Return what the broker has used."""
        return usage_of([self.process])


@contextmanager
def running_broker(topics: Iterable[Topic]) -> Iterator[Broker]:
    """Run a broker with these topics in a folder that goes away with it."""
    tools = ROOT / os.environ.get("ALDEBARAN_TOOLS", ".tools")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        port, controller_port = free_ports(2)
        node = broker.BrokerNode(home / "kafka", port, controller_port, heap_mebibytes=512)
        java, jars = setup.required_java(os.environ), setup.jars_folder(tools, "broker")
        broker.prepare(node, java, jars)
        program = broker.program(node, java, jars)
        running = child.start_and_wait(program, home / "log" / "kafka.log", os.environ)
        try:
            settings = KafkaSettings(kafka_bootstrap_servers=node.bootstrap)
            TopicAdmin(settings, "bench").declare(list(topics))
            yield Broker(node.bootstrap, psutil.Process(running.process.pid), home)
        finally:
            running.stop()


@contextmanager
def fresh_broker(topics: Iterable[Topic]) -> Iterator[tuple[str, Path]]:
    """Run a broker with these topics; yield its address and the run's folder."""
    with running_broker(topics) as running:
        yield running.bootstrap, running.home


@contextmanager
def fresh_postgres(home: Path) -> Iterator[str]:
    """Run a Postgres as `make run` does; yield the address of its database."""
    home.chmod(0o755)  # Postgres may run as another user than we do
    server = postgres.PostgresServer(home / "postgres", free_ports(1)[0])
    binaries = postgres.find_binaries()
    postgres.prepare(server, binaries)
    program = postgres.program(server, binaries)
    running = child.start_and_wait(program, home / "log" / "postgres.log", os.environ)
    try:
        yield server.url()
    finally:
        running.stop()
