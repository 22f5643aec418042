"""The heartbeat on a real broker, answered by stand-ins of auditors."""

import threading
import uuid
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
from prometheus_client import REGISTRY

from services.backbone.errors import Refused
from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.consumer import Consumer
from services.backbone.kafka.producer import Outgoing, Producer
from services.backbone.service import Life
from services.contracts.ids import alert_id
from services.contracts.records import Alert, Severity
from services.contracts.topics import HEARTBEATS, Topic, heartbeat
from services.heartbeat.__main__ import body
from services.heartbeat.settings import HeartbeatSettings
from services.machine.waiting import wait_until

pytestmark = pytest.mark.kafka

STREAM = """
stream: {name}
version: 1
description: Numbers.
key: sensor
fields:
  sensor: {{type: string}}
  number: {{type: long}}
"""
WATCH = """
watch: {name}
version: 1
description: Large numbers.
streams: [{name}]
sql: SELECT sensor, appended_at FROM {name} WHERE number > 10
key: [sensor]
severity: info
summary: "{{sensor}} is large"
rule: Numbers stay under 10.
"""
BEATING = """
heartbeat:
  events:
    - {{stream: {name}, event: {{sensor: $beat, number: 1}}}}
    - {{stream: {name}, event: {{sensor: $beat, number: 11}}}}
"""


@pytest.fixture
def name() -> str:
    return f"t-{uuid.uuid4().hex}"


def settings_of(folder: Path, kafka_bootstrap: str, name: str, watch: str) -> HeartbeatSettings:
    for kind, text in (("streams", STREAM), ("watches", watch)):
        (folder / kind).mkdir()
        (folder / kind / "one.yaml").write_text(text.format(name=name))
    return HeartbeatSettings(
        kafka_bootstrap_servers=kafka_bootstrap,
        instance=name,
        streams_dir=folder / "streams",
        watches_dir=folder / "watches",
        heartbeat_interval_seconds=0.1,
        heartbeat_in_time_seconds=5,
    )


@pytest.fixture
def settings(tmp_path: Path, kafka_bootstrap: str, name: str) -> HeartbeatSettings:
    made = settings_of(tmp_path, kafka_bootstrap, name, WATCH + BEATING)
    TopicAdmin(made, "test").declare([Topic(HEARTBEATS), Topic(heartbeat(name))])
    return made


@pytest.fixture
def life(settings: HeartbeatSettings) -> Iterator[Life]:
    """A heartbeat at work; its end must be clean."""
    life = Life()
    thread = threading.Thread(target=lambda: body(settings, life))
    thread.start()
    yield life
    life.stop.set()
    thread.join(30)
    assert not thread.is_alive()


@pytest.fixture
def auditors(settings: HeartbeatSettings, name: str) -> Iterator[None]:
    """Stand-ins of two auditors: each answers each beat, and repeats itself."""
    stop = threading.Event()
    thread = threading.Thread(target=lambda: answer_until(stop, settings, name))
    thread.start()
    yield
    stop.set()
    thread.join(30)


def answer_until(stop: threading.Event, settings: HeartbeatSettings, name: str) -> None:
    consumer = Consumer(settings, "test", group=name, topics=[heartbeat(name)])
    producer = Producer(settings, "test")
    while not stop.is_set():
        for each in consumer.batch(100, 0.1):
            event = orjson.loads(each.value)
            if event["number"] > 10:
                records = [answer(name, event["sensor"], auditor) for auditor in "aabb"]
                producer.write([Outgoing(HEARTBEATS, r.alert_id, r.encode()) for r in records])
    consumer.close()
    producer.close()


def answer(watch: str, beat: str, auditor: str) -> Alert:
    return Alert(
        alert_id=alert_id(watch, [beat]),
        watch=watch,
        severity=Severity.INFO,
        summary="large",
        key={"sensor": beat},
        appended_at_ms=1,
        detected_at_ms=2,
        auditor=auditor,
    )


def sample(metric: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(f"aldebaran_heartbeat_{metric}", labels) or 0.0


def answers(name: str) -> list[float]:
    return [sample("latency_seconds_count", watch=name, auditor=each) for each in "ab"]


@pytest.mark.usefixtures("auditors")
def test_beats_come_back_measured_once_per_auditor(life: Life, name: str) -> None:
    wait_until(lambda: min(answers(name)) >= 5, 60, "no beat came back")
    assert max(answers(name)) <= sample("sent_total", watch=name)
    assert life.health.ready() == {}
    assert life.health.live() == {}


def test_without_an_auditor_the_program_lives_and_is_not_ready(life: Life, name: str) -> None:
    by_nobody = {"watch": name, "auditor": "none"}
    wait_until(lambda: sample("missed_total", **by_nobody) >= 1, 60, "no beat was missed")
    assert life.health.live() == {}
    assert life.health.ready() == {"answers": f"no answer in time for {name}"}


def test_watches_without_a_heartbeat_are_refused(
    tmp_path: Path, kafka_bootstrap: str, name: str
) -> None:
    with pytest.raises(Refused, match="declares a heartbeat"):
        body(settings_of(tmp_path, kafka_bootstrap, name, WATCH), Life())
