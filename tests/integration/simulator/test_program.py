"""The simulator as a program: straight to a real broker, its report against the topic."""

import os
import signal
import subprocess
import sys
import uuid
from pathlib import Path

import orjson
import pytest

from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.consumer import Consumer
from services.backbone.settings import KafkaSettings
from services.contracts.topics import Topic
from services.machine.ports import free_ports
from services.machine.waiting import wait_until
from services.simulator.report import Report

pytestmark = pytest.mark.kafka


@pytest.fixture
def settings(kafka_bootstrap: str) -> KafkaSettings:
    return KafkaSettings(kafka_bootstrap_servers=kafka_bootstrap)


@pytest.fixture
def topic(settings: KafkaSettings) -> str:
    name = f"t-{uuid.uuid4().hex}"
    TopicAdmin(settings, "test").declare([Topic(name, partitions=2)])
    return name


def start(
    settings: KafkaSettings, topic: str, report: Path, *dials: str
) -> "subprocess.Popen[str]":
    environment = os.environ | {
        "ALDEBARAN_KAFKA_BOOTSTRAP_SERVERS": settings.kafka_bootstrap_servers,
        "ALDEBARAN_SIMULATOR_STREAM": topic,
        "ALDEBARAN_HTTP_PORT": str(free_ports(1)[0]),
    }
    arguments = ["--to", "kafka", "--report", str(report), *dials]
    command = [sys.executable, "-m", "services.simulator", *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe, text=True)


def read(settings: KafkaSettings, topic: str, count: int) -> list[bytes]:
    consumer = Consumer(settings, "test", group=uuid.uuid4().hex, topics=[topic])
    found: list[bytes] = []
    try:
        while len(found) < count:
            found += [each.value for each in consumer.batch(10_000, 1.0)]
    finally:
        consumer.close()
    return found


def over_purchased(values: list[bytes]) -> set[str]:
    requested: dict[str, int] = {}
    bought: dict[str, dict[str, int]] = {}
    for value in values:
        try:
            event = orjson.loads(value)
        except orjson.JSONDecodeError:
            continue
        match event:
            case {"order_id": order_id} if "-bad-" in order_id:
                continue
            case {"kind": "request", "order_id": order_id, "shares": int(shares)}:
                requested[order_id] = shares
            case {"kind": "purchase", "order_id": order_id, "shares": int(shares)}:
                bought.setdefault(order_id, {})[event["event_id"]] = shares
    return {key for key, limit in requested.items() if sum(bought.get(key, {}).values()) > limit}


def test_the_report_reconciles_with_the_topic(
    settings: KafkaSettings, topic: str, tmp_path: Path
) -> None:
    file = tmp_path / "report.json"
    dials = "--rate max --orders 2000 --over-share 0.3 --disorder 0.3 --duplicates 0.2"
    running = start(settings, topic, file, *dials.split(), "--malformed", "0.1")
    output, errors = running.communicate(timeout=120)
    assert running.returncode == 0, errors
    report = Report.model_validate_json(file.read_text())
    assert report.text() == output
    values = read(settings, topic, report.sent)
    assert len(values) == report.sent == report.accepted
    assert report.requests == 2000
    assert report.purchases == 8000
    assert report.expected_alerts == len(report.expected_order_ids) > 400
    assert set(report.expected_order_ids) == over_purchased(values)


def test_sigterm_ends_an_endless_run_with_an_exact_report(
    settings: KafkaSettings, topic: str, tmp_path: Path
) -> None:
    file = tmp_path / "report.json"
    running = start(settings, topic, file, "--rate", "500", "--over-share", "1")
    admin = Consumer(settings, "test", group=uuid.uuid4().hex, topics=[topic])
    wait_until(lambda: bool(admin.batch(10, 1.0)), 60, "nothing was sent")
    admin.close()
    running.send_signal(signal.SIGTERM)
    _, errors = running.communicate(timeout=60)
    assert running.returncode == 0, errors
    report = Report.model_validate_json(file.read_text())
    values = read(settings, topic, report.sent)
    assert len(values) == report.sent == report.accepted
    assert set(report.expected_order_ids) == over_purchased(values)


def test_a_stream_that_is_not_there_ends_an_endless_run(
    settings: KafkaSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALDEBARAN_PRODUCER_TIMEOUT_SECONDS", "4")
    running = start(settings, "traids", tmp_path / "report.json", "--rate", "100")
    _, errors = running.communicate(timeout=60)
    assert running.returncode == 78, errors
    assert "there is no stream traids" in errors
    report = Report.model_validate_json((tmp_path / "report.json").read_text())
    assert report.sent == report.unknown > 0


def test_a_gateway_that_is_not_there_is_retried_and_then_reported(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    environment = os.environ | {"ALDEBARAN_SIMULATOR_ANSWER_TIMEOUT_SECONDS": "0.5"}
    ports = free_ports(2)
    command = [sys.executable, "-m", "services.simulator", "--events", "3", "--rate", "max"]
    command += ["--url", f"http://127.0.0.1:{ports[0]}", "--http-port", str(ports[1])]
    ended = subprocess.run(
        [*command, "--report", str(file)],
        env=environment,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 69, ended.stderr
    report = Report.model_validate_json(file.read_text())
    assert (report.sent, report.unknown) == (3, 3)
    assert report.retried >= 3
