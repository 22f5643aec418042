"""An auditor as a real process, and both ends of its topics."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, KafkaException, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from services.backbone.kafka.consumer import incoming
from services.backbone.settings import KafkaSettings
from services.contracts.records import Alert, Rejected
from services.contracts.streams import SHIPPED_STREAMS, load_stream, stream_topics
from services.contracts.topics import ALERTS, HEARTBEATS, Topic, rejected
from services.contracts.watches import SHIPPED_WATCHES
from services.machine.ports import free_ports
from tests.said import said, written_to
from tests.topic import declare_known

ROOT = Path(__file__).parents[3]
DEADLINE_SECONDS = 150.0
SLOTS = 12
"""Tasks that an auditor runs at once."""


def wait_for(what: str, condition: Callable[[], bool], seconds: float = DEADLINE_SECONDS) -> None:
    """Wait until the condition holds; fail with its name at the deadline."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds:.0f} s: {what}"
        time.sleep(0.05)


@dataclass
class Place:
    """One test's own stream, watches, checkpoints and auditor id on the shared broker."""

    bootstrap: str
    folder: Path
    jars: Path
    name: str = field(default_factory=lambda: f"t{uuid.uuid4().hex[:10]}")

    @property
    def stream(self) -> str:
        return f"trades_{self.name}"

    def declare(self, *watches: str) -> None:
        """Copy shipped declarations under this place's own names and create the topics."""
        for kind in ("streams", "watches"):
            (self.folder / kind).mkdir(parents=True, exist_ok=True)
        self._copy(SHIPPED_STREAMS / "trades.yaml", "streams")
        for watch in watches:
            self._copy(SHIPPED_WATCHES / f"{watch}.yaml", "watches")
        declared = load_stream(self.folder / "streams" / "trades.yaml")
        topics = [*stream_topics(declared), Topic(ALERTS), Topic(HEARTBEATS)]
        declare_known(KafkaSettings(kafka_bootstrap_servers=self.bootstrap), topics)

    def _copy(self, original: Path, kind: str) -> None:
        text = original.read_text()
        for before in ("stream: ", "streams: [", "FROM "):
            text = text.replace(f"{before}trades", f"{before}{self.stream}")
        (self.folder / kind / original.name).write_text(text)

    def environment(self, **settings: object) -> dict[str, str]:
        """Return the environment of an auditor in this place."""
        values: dict[str, object] = {
            "KAFKA_BOOTSTRAP_SERVERS": self.bootstrap,
            "AUDITOR_ID": self.name,
            "AUDITOR_STREAMS": self.folder / "streams",
            "AUDITOR_WATCHES": self.folder / "watches",
            "AUDITOR_CHECKPOINTS": self.folder / "checkpoints",
            "AUDITOR_JARS": self.jars,
            "AUDITOR_SLOTS": SLOTS,
            "AUDITOR_HEAP": "512m",
            "AUDITOR_BATCH_SECONDS": 5,
            "HTTP_PORT": free_ports(1)[0],
        } | settings
        own = {f"ALDEBARAN_{name}": str(value) for name, value in values.items()}
        path = os.pathsep.join([str(ROOT), str(ROOT / "spark-apps")])
        return {**os.environ, **own, "PYTHONPATH": path}

    @contextmanager
    def auditor(self, wrapped: Sequence[str] = (), **settings: object) -> Iterator["Running"]:
        """Run an auditor in this place, inside a command if told; kill what is left at the end."""
        log_file = self.folder / "auditor.log"
        running = Running(self.environment(**settings), log_file, wrapped=wrapped)
        try:
            yield running
        finally:
            running.kill()

    def refused(self, **settings: object) -> str:
        """Run an auditor that should refuse to start; return what it says."""
        with self.auditor((), **settings) as running:
            assert running.wait() == 78, running.log()
            return str(said(running.log(), "refused")[0]["reason"])


class Running:
    """A started Spark application."""

    def __init__(
        self,
        environment: dict[str, str],
        log_file: Path,
        module: str = "auditor",
        wrapped: Sequence[str] = (),
    ) -> None:
        self._log_file = log_file
        self._module = module
        self._url = f"http://127.0.0.1:{environment['ALDEBARAN_HTTP_PORT']}"
        with log_file.open("ab") as log:
            self.process = subprocess.Popen(
                [*wrapped, sys.executable, "-m", module],
                env=environment,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )

    def log(self) -> str:
        return written_to(self._log_file)

    def ask(self, path: str) -> tuple[int, str]:
        """Return status and body of a page; status 0 while nobody answers."""
        try:
            with urllib.request.urlopen(self._url + path, timeout=60) as answer:  # noqa: S310 - http
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError:
            return 0, ""

    def wait_until_ready(self) -> None:
        def ready() -> bool:
            assert self.process.poll() is None, self.log()[-3000:]
            return self.ask("/healthz/ready")[0] == 200

        wait_for(f"{self._module} is ready", ready)

    def metric(self, name: str, watch: str) -> float:
        """Return a metric of one watch; 0 before it is first set."""
        start = f'{name}{{watch="{watch}"}} '
        found = [line for line in self.ask("/metrics")[1].splitlines() if line.startswith(start)]
        return float(found[0].removeprefix(start)) if found else 0.0

    def terminate(self) -> int:
        """Send SIGTERM; return the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.wait()

    def wait(self) -> int:
        return self.process.wait(DEADLINE_SECONDS)

    def kill(self) -> None:
        """Kill the process and the JVM that it started, which alone would go on for a while."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(10)


class Sender:
    """Puts events onto a place's topics."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._client = Producer({"bootstrap.servers": place.bootstrap, "linger.ms": 0})

    def event(self, kind: str, event_id: str, order_id: str, shares: int, **more: Any) -> None:
        """Send one event to the stream, or to its heartbeats with `beat=True`."""
        suffix = ".heartbeat" if more.pop("beat", False) else ""
        event = {
            "kind": kind,
            "event_id": event_id,
            "order_id": order_id,
            "shares": shares,
            "client": "Ann",
            "stock": "ACME",
        } | more
        self.raw(json.dumps(event).encode(), order_id, suffix)

    def request(self, order_id: str, shares: int, **more: Any) -> None:
        self.event("request", order_id, order_id, shares, **more)

    def purchase(self, event_id: str, order_id: str, shares: int, **more: Any) -> None:
        self.event("purchase", event_id, order_id, shares, **more)

    def raw(self, value: bytes | None, key: str = "", suffix: str = "") -> None:
        self._client.produce(self._place.stream + suffix, value=value, key=key)
        self._client.poll(0)

    def flush(self) -> None:
        assert self._client.flush(30) == 0


def delete_all(place: Place) -> None:
    """Delete all records of the stream, as retention does."""
    client = AdminClient({"bootstrap.servers": place.bootstrap})
    everything = [TopicPartition(place.stream, number, -1) for number in range(2)]
    for done in client.delete_records(everything).values():
        done.result(30)


def from_beginning(client: Consumer, topic: str) -> None:
    """Let a client read every partition; a broker may not know those of a new topic at once."""

    def known() -> list[int]:
        return list(client.list_topics(topic, timeout=10).topics[topic].partitions)

    wait_for(f"{topic} has partitions", lambda: bool(known()))
    client.assign([TopicPartition(topic, partition, 0) for partition in known()])


class Findings:
    """Reads one topic from its beginning and keeps what one auditor sent there."""

    def __init__(self, place: Place, topic: str = ALERTS) -> None:
        self._place = place
        config = {"bootstrap.servers": place.bootstrap, "group.id": f"test-{uuid.uuid4().hex}"}
        self._client = Consumer({**config, "enable.auto.commit": False})
        from_beginning(self._client, topic)
        self._next: dict[int, int] = {}
        """The offset of what comes next, by partition."""
        self.alerts: list[Alert] = []

    def found(self) -> set[str]:
        """Return the findings' keys so far, joined by a slash."""
        self.alerts += [alert for alert in self.fresh() if alert.auditor == self._place.name]
        return {"/".join(alert.key.values()) for alert in self.alerts}

    def fresh(self) -> Iterator[Alert]:
        """Yield what has come since the last call, of any auditor, to the ends that are told now.

        Silence is not the end: a busy broker takes a while to answer.
        """
        ends = self._ends()
        while any(self._next.get(partition, 0) < end for partition, end in ends.items()):
            if message := self._client.poll(0.05):
                yield self._taken(message)

    def _ends(self) -> dict[int, int]:
        """Return where each partition ends; nothing while the brokers are away."""
        places = self._client.assignment()
        try:
            ends = [self._client.get_watermark_offsets(each, timeout=10) for each in places]
        except KafkaException:
            return {}
        return {each.partition: found[1] for each, found in zip(places, ends, strict=True) if found}

    def _taken(self, message: Message) -> Alert:
        assert message.error() is None
        record = incoming(message)
        self._next[record.partition] = record.offset + 1
        alert = Alert.decode(record.value)
        assert record.key == alert.alert_id.encode()
        return alert

    def wait_for(self, *keys: str) -> None:
        wait_for(f"findings {keys}", lambda: set(keys) <= self.found())


def rejected_of(place: Place) -> list[Rejected]:
    """Return what lies in the rejected topic of the place's stream."""
    topic = rejected(place.stream)
    client = Consumer({"bootstrap.servers": place.bootstrap, "group.id": uuid.uuid4().hex})
    _, end = client.get_watermark_offsets(TopicPartition(topic, 0), timeout=30)
    client.assign([TopicPartition(topic, 0, 0)])
    messages = client.consume(end, timeout=30) if end else []
    client.close()
    return [Rejected.decode(message.value()) for message in messages]
