"""A broker of the test's own: what was acknowledged survives kill -9 and a formatting cut short."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.consumer import Consumer
from services.backbone.kafka.producer import Outgoing, Producer, ProducerSettings
from services.backbone.settings import KafkaSettings
from services.contracts.topics import Topic
from services.machine.installation import setup
from services.machine.ports import free_ports, is_free
from services.machine.servers import broker
from services.machine.supervision import child

pytestmark = pytest.mark.kafka


class OwnBroker:
    """A broker that a test may kill."""

    def __init__(self, folder: Path, tools: Path) -> None:
        port, controller_port = free_ports(2)
        self.node = broker.BrokerNode(folder / "kafka", port, controller_port, heap_mebibytes=256)
        self.settings = KafkaSettings(kafka_bootstrap_servers=self.node.bootstrap)
        self._log = folder / "kafka.log"
        self._java = setup.required_java(os.environ)
        self._jars = setup.jars_folder(tools, "broker")
        self.running: child.Child | None = None

    def start(self) -> None:
        broker.prepare(self.node, self._java, self._jars)
        program = broker.program(self.node, self._java, self._jars)
        self.running = child.start_and_wait(program, self._log, os.environ)

    def kill(self) -> None:
        assert self.running is not None
        os.kill(self.running.process.pid, signal.SIGKILL)
        self.running.end(5)

    def stop(self) -> None:
        if self.running is not None:
            self.running.stop()


@pytest.fixture
def own_broker(tmp_path: Path, aldebaran_tools: Path) -> Iterator[OwnBroker]:
    own = OwnBroker(tmp_path, aldebaran_tools)
    yield own
    own.stop()


def test_acknowledged_records_survive_a_kill(own_broker: OwnBroker) -> None:
    own_broker.start()
    TopicAdmin(own_broker.settings, "test").declare([Topic("kept")])
    send(own_broker.settings, [b"one", b"two"])
    own_broker.kill()
    own_broker.start()
    assert read(own_broker.settings, 2) == [b"one", b"two"]
    own_broker.stop()
    assert is_free(own_broker.node.port)


def test_a_folder_with_letters_beyond_ascii_holds_the_data(
    tmp_path: Path, aldebaran_tools: Path
) -> None:
    home = tmp_path / "josé"
    home.mkdir()
    own = OwnBroker(home, aldebaran_tools)
    try:
        own.start()
    finally:
        own.stop()
    assert (own.node.folder / "data" / "__cluster_metadata-0").is_dir()
    assert list(tmp_path.iterdir()) == [home]


def test_a_formatting_that_was_cut_short_is_made_anew(own_broker: OwnBroker) -> None:
    data = own_broker.node.folder / "data"
    data.mkdir(parents=True)
    (data / "meta.properties").write_text("version=1\n", "utf-8")
    own_broker.start()
    identity = (own_broker.node.folder / "formatted.json").read_text("utf-8")
    own_broker.kill()
    own_broker.start()
    assert (own_broker.node.folder / "formatted.json").read_text("utf-8") == identity


def send(settings: KafkaSettings, values: list[bytes]) -> None:
    producer = Producer(ProducerSettings(**settings.model_dump()), "test")
    try:
        producer.write([Outgoing("kept", "key", value) for value in values])
    finally:
        producer.close()


def read(settings: KafkaSettings, count: int) -> list[bytes]:
    consumer = Consumer(settings, "test", group="test", topics=["kept"])
    found: list[bytes] = []
    try:
        while len(found) < count:
            found += [each.value for each in consumer.batch(10, 1.0)]
    finally:
        consumer.close()
    return found
