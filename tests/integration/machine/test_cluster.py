"""Three real brokers: one may die at any moment; with two away nothing is acknowledged."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient

from services.backbone.errors import Transient
from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.consumer import Consumer
from services.backbone.kafka.producer import Outgoing, Producer, ProducerSettings
from services.contracts.topics import Topic
from services.machine.installation import setup
from services.machine.ports import free_ports
from services.machine.servers import cluster
from services.machine.supervision import child

pytestmark = pytest.mark.kafka
TOPIC = "kept"


class OwnCluster:
    """Three brokers that a test may kill."""

    def __init__(self, folder: Path, tools: Path) -> None:
        ports = free_ports(6)
        pairs = tuple(zip(ports[::2], ports[1::2], strict=True))
        brokers = cluster.cluster(folder, pairs, heap_mebibytes=192)
        java, jars = setup.required_java(os.environ), setup.jars_folder(tools, "broker")
        cluster.prepare(brokers, java, jars)
        self._programs = cluster.programs(brokers, java, jars)
        self._folder = folder
        self.running: dict[str, child.Child] = {}
        self.settings = ProducerSettings(
            kafka_bootstrap_servers=brokers.bootstrap, producer_timeout_seconds=5
        )

    def start(self) -> None:
        """Start the nodes that do not run, all at once: alone none of them gets ready."""
        missing = [each for each in self._programs if each.name not in self.running]
        for program in missing:
            log = self._folder / f"{program.name}.log"
            self.running[program.name] = child.start(program, log, os.environ)
        for program in missing:
            child.wait_ready(self.running[program.name], self._folder / f"{program.name}.log")

    def leader(self) -> str:
        """Return the node that has the topic's first word on what is written."""
        admin = AdminClient({"bootstrap.servers": self.settings.kafka_bootstrap_servers})
        number: int = admin.list_topics(TOPIC, timeout=30).topics[TOPIC].partitions[0].leader
        return self._programs[number - 1].name

    def kill(self, name: str) -> None:
        process = self.running.pop(name)
        os.kill(process.process.pid, signal.SIGKILL)
        process.end(5)

    def stop(self) -> None:
        for running in self.running.values():
            running.ask_to_stop()
        for running in self.running.values():
            running.end(20)


@pytest.fixture
def brokers(tmp_path: Path, aldebaran_tools: Path) -> Iterator[OwnCluster]:
    own = OwnCluster(tmp_path, aldebaran_tools)
    try:
        own.start()
        yield own
    finally:
        own.stop()


def written(producer: Producer, value: bytes) -> None:
    """Write until the brokers have it."""
    while True:
        try:
            return producer.write([Outgoing(TOPIC, "key", value)])
        except Transient:
            continue


def read(brokers: OwnCluster) -> list[bytes]:
    consumer = Consumer(brokers.settings, "test", group="test", topics=[TOPIC])
    found: list[bytes] = []
    try:
        while b"last" not in found:
            found += [each.value for each in consumer.batch(100, 1.0)]
    finally:
        consumer.close()
    return found


def test_any_node_may_die_and_without_two_nothing_is_acknowledged(brokers: OwnCluster) -> None:
    topic = Topic(TOPIC).with_copies(3)
    TopicAdmin(brokers.settings, "test").declare([topic])
    producer = Producer(brokers.settings, "test")
    try:
        written(producer, b"before")
        brokers.kill("kafka")
        written(producer, b"without the first")
        brokers.start()
        # The leader lives and has what is written; only its copies are missing.
        for follower in brokers.running.keys() - {brokers.leader()}:
            brokers.kill(follower)
        with pytest.raises(Transient):
            producer.write([Outgoing(TOPIC, "key", b"nobody answers for this")])
        brokers.start()
        written(producer, b"last")
    finally:
        producer.close()
    assert {b"before", b"without the first"} <= set(read(brokers))
