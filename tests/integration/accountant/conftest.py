"""A broker, a ledger and a topic of alerts that only the accountant's tests write."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.producer import Outgoing, Producer, ProducerSettings
from services.contracts import topics
from services.contracts.records import Alert
from tests.broker import GUARDED, OwnBroker
from tests.integration.accountant.programs import Accountants
from tests.integration.deliverer.ledgers import Ledger
from tests.integration.deliverer.programs import DelivererProcess
from tests.integration.lookout.processes import Lookouts

CHANNELS = ("bus", "log", "webhook", "email")


@dataclass
class Beats:
    """A dead man's switch that counts."""

    count: int = 0
    port: int = 0

    def listen(self) -> HTTPServer:
        beats = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                beats.count += 1
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        server = HTTPServer(("127.0.0.1", 0), Handler)
        self.port = server.server_port
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}).start()
        return server


@dataclass
class World:
    """Everything that one story needs."""

    bootstrap: str
    ledger: Ledger
    folder: Path
    producer: Producer
    lookouts: Lookouts
    accountants: Accountants
    beats: Beats
    deliverers: list[DelivererProcess] = field(default_factory=list)

    def publish(self, *alerts: Alert) -> None:
        self.producer.write([Outgoing(topics.ALERTS, a.alert_id, a.encode()) for a in alerts])

    def deliverer(self, channel: str, **settings: object) -> DelivererProcess:
        environment = {
            "ALDEBARAN_CHANNEL": channel,
            "ALDEBARAN_POSTGRES_URL": self.ledger.url,
            "ALDEBARAN_KAFKA_BOOTSTRAP_SERVERS": self.bootstrap,
            "ALDEBARAN_SWEEP_SECONDS": "0.1",
        } | {f"ALDEBARAN_{name.upper()}": str(value) for name, value in settings.items()}
        one = DelivererProcess(environment, self.folder / f"deliverer-{channel}.log")
        self.deliverers.append(one)
        return one.start()


@pytest.fixture
def own_bootstrap(aldebaran_tools: Path, tmp_path: Path) -> Iterator[str]:
    """A broker of the test's own: what others write to topic alerts is in no ledger of ours."""
    own = OwnBroker(aldebaran_tools, tmp_path, more=GUARDED)
    yield own.node.bootstrap
    own.running.stop()


@pytest.fixture
def producer(own_bootstrap: str) -> Iterator[Producer]:
    """A producer, and the core's topics."""
    settings = ProducerSettings(kafka_bootstrap_servers=own_bootstrap)
    TopicAdmin(settings, "test").declare(topics.core_topics(CHANNELS))
    producer = Producer(settings, "test")
    yield producer
    producer.close()


@pytest.fixture
def beats() -> Iterator[Beats]:
    """A dead man's switch."""
    beats = Beats()
    server = beats.listen()
    yield beats
    server.shutdown()
    server.server_close()


@pytest.fixture
def world(
    own_bootstrap: str, producer: Producer, ledger_url: str, tmp_path: Path, beats: Beats
) -> Iterator[World]:
    """Servers, and programs to be started; all end with the test."""
    ledger = Ledger(ledger_url)
    world = World(
        bootstrap=own_bootstrap,
        ledger=ledger,
        folder=tmp_path,
        producer=producer,
        lookouts=Lookouts(own_bootstrap, ledger_url, tmp_path),
        accountants=Accountants(own_bootstrap, ledger_url, tmp_path, beats.port),
        beats=beats,
    )
    yield world
    world.accountants.close()
    for each in world.deliverers:
        each.kill()
    world.lookouts.close()
    ledger.close()
