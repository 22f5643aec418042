"""The simulator through the real gateway: its report against the stream's topics."""

import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.consumer import Consumer
from services.backbone.settings import KafkaSettings
from services.contracts.streams import SHIPPED_STREAMS, load_streams, stream_topics
from services.contracts.topics import rejected
from services.machine.ports import free_ports
from services.machine.waiting import wait_until
from services.simulator.report import Report

pytestmark = pytest.mark.kafka


@pytest.fixture
def stream(tmp_path: Path, kafka_bootstrap: str) -> str:
    """A stream like the shipped one, by a name of its own, with its topics."""
    name = f"t-{uuid.uuid4().hex}"
    text = (SHIPPED_STREAMS / "trades.yaml").read_text()
    (tmp_path / "stream.yaml").write_text(text.replace("stream: trades", f"stream: {name}"))
    settings = KafkaSettings(kafka_bootstrap_servers=kafka_bootstrap)
    TopicAdmin(settings, "test").declare(stream_topics(load_streams(tmp_path)[name]))
    return name


@pytest.fixture
def gateway(tmp_path: Path, kafka_bootstrap: str, stream: str) -> Iterator[str]:
    """The address of a running gateway that takes the stream."""
    port = free_ports(1)[0]
    environment = os.environ | {
        "ALDEBARAN_KAFKA_BOOTSTRAP_SERVERS": kafka_bootstrap,
        "ALDEBARAN_STREAMS_DIR": str(tmp_path),
        "ALDEBARAN_API_KEYS": "off",
        "ALDEBARAN_HTTP_PORT": str(port),
    }
    process = subprocess.Popen([sys.executable, "-m", "services.gateway"], env=environment)
    url = f"http://127.0.0.1:{port}"
    try:
        wait_until(lambda: takes_events(url, stream), 60, "the gateway did not start")
        yield url
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait()


def takes_events(url: str, stream: str) -> bool:
    try:
        return httpx2.get(f"{url}/v1/streams/{stream}").status_code == 200
    except httpx2.TransportError:
        return False


def count(kafka_bootstrap: str, topic: str, expected: int) -> int:
    """Return how many records a topic has, once it has at least as many as expected."""
    settings = KafkaSettings(kafka_bootstrap_servers=kafka_bootstrap)
    consumer = Consumer(settings, "test", group=uuid.uuid4().hex, topics=[topic])
    found = 0
    try:
        while found < expected:
            found += len(consumer.batch(10_000, 1.0))
        return found + len(consumer.batch(10_000, 1.0))
    finally:
        consumer.close()


def test_every_message_is_in_the_topic_or_kept_aside(
    gateway: str, stream: str, kafka_bootstrap: str, tmp_path: Path
) -> None:
    file = tmp_path / "report.json"
    dials = "--rate max --orders 300 --malformed 0.2 --duplicates 0.2 --disorder 0.2 --batch 50"
    command = [sys.executable, "-m", "services.simulator", *dials.split(), "--url", gateway]
    command += ["--report", str(file), "--http-port", str(free_ports(1)[0])]
    environment = os.environ | {"ALDEBARAN_SIMULATOR_STREAM": stream}
    subprocess.run(command, env=environment, timeout=120, check=True)
    report = Report.model_validate_json(file.read_text())
    assert report.accepted == report.requests + report.purchases + report.duplicates
    assert report.rejected == report.malformed > 0
    assert report.malformed_accepted == report.unknown == 0
    repeated = report.retried  # what the gateway could not answer for may be there twice
    assert 0 <= count(kafka_bootstrap, stream, report.accepted) - report.accepted <= repeated
    kept = count(kafka_bootstrap, rejected(stream), report.rejected)
    assert 0 <= kept - report.rejected <= repeated
