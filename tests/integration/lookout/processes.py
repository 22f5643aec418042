"""The real program on real servers: start it, kill it, feed it, read what it wrote."""

import http.client
import os
import sys
import threading
import uuid
from collections.abc import Callable, Collection
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from services.backbone.kafka.consumer import Consumer, Incoming
from services.backbone.kafka.producer import Outgoing, Producer, ProducerSettings
from services.contracts import topics
from services.contracts.records import Alert
from services.machine.ports import free_ports
from services.machine.supervision import child
from services.machine.supervision.programs import Program
from services.machine.supervision.readiness import HttpReadiness
from services.machine.waiting import wait_until
from tests.said import written_to

TIMEOUT_SECONDS = 60.0


@dataclass
class Lookouts:
    """Starts lookouts of one group on one ledger."""

    kafka_bootstrap: str
    ledger_url: str
    folder: Path
    group: str = field(default_factory=lambda: f"lookout-{uuid.uuid4().hex}")
    running: list[child.Child] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)
    """Further settings of those started from now on."""

    def start(self, ready: bool = True) -> child.Child:
        """Start one more; return when it is ready, or at once."""
        port = free_ports(1)[0]
        environment = {
            "ALDEBARAN_HTTP_PORT": str(port),
            "ALDEBARAN_KAFKA_BOOTSTRAP_SERVERS": self.kafka_bootstrap,
            "ALDEBARAN_POSTGRES_URL": self.ledger_url,
            "ALDEBARAN_LOOKOUT_GROUP": self.group,
            "ALDEBARAN_LOOKOUT_RELAY_SECONDS": "0.5",
            **self.settings,
        }
        command = (sys.executable, "-m", "services.lookout")
        program = Program("lookout", command, environment, HttpReadiness(port))
        start = child.start_and_wait if ready else child.start
        started = start(program, self.folder / "lookout.log", os.environ)
        self.running.append(started)
        return started

    def kill(self, victim: child.Child) -> None:
        """End one as a power cut does."""
        victim.process.kill()
        victim.process.wait(TIMEOUT_SECONDS)
        self.running.remove(victim)

    def close(self) -> None:
        """Ask all to stop; each must do so with exit code 0."""
        for each in self.running:
            each.stop()
        codes = [each.exit_code for each in self.running]
        assert codes == [0] * len(codes), f"{codes}: {self.log()[-4000:]}"

    def log(self) -> str:
        """Return what all of them have logged."""
        return written_to(self.folder / "lookout.log")


class Reader:
    """Keeps what comes on topics, from the beginning, until it is closed."""

    def __init__(self, kafka_bootstrap: str, names: Collection[str]) -> None:
        settings = ProducerSettings(kafka_bootstrap_servers=kafka_bootstrap)
        self._consumer = Consumer(settings, "test", group=uuid.uuid4().hex, topics=list(names))
        self._stop = threading.Event()
        self.found: list[Incoming] = []
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        while not self._stop.is_set():
            self.found += self._consumer.batch(1000, 0.2)
        self._consumer.close()

    def keys(self) -> list[str]:
        """Return the keys of all records so far."""
        return [(each.key or b"").decode() for each in self.found]

    def wait_for(self, keys: Collection[str], timeout_seconds: float = TIMEOUT_SECONDS) -> None:
        """Return when each of these keys has come."""
        wanted = set(keys)
        wait_until(lambda: wanted <= set(self.keys()), timeout_seconds, "not all has come")

    def close(self) -> None:
        """Stop reading."""
        self._stop.set()
        self._thread.join(TIMEOUT_SECONDS)


def page(running: child.Child, path: str) -> str:
    """Return what a lookout answers."""
    readiness = running.program.readiness
    assert isinstance(readiness, HttpReadiness)
    address = ("127.0.0.1", readiness.port)
    with closing(http.client.HTTPConnection(*address, timeout=TIMEOUT_SECONDS)) as asking:
        asking.request("GET", path)
        return asking.getresponse().read().decode()


def write_alerts(producer: Producer, alerts: Collection[Alert]) -> None:
    """Put alerts on their topic."""
    producer.write([Outgoing(topics.ALERTS, each.alert_id, each.encode()) for each in alerts])


def eventually(condition: Callable[[], bool], otherwise: str) -> None:
    """Wait until the condition holds."""
    wait_until(condition, TIMEOUT_SECONDS, otherwise)
