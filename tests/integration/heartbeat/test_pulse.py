"""The heartbeat on a real broker, answered by stand-ins of auditors."""

import threading
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import orjson
import pytest
from prometheus_client import REGISTRY

from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.consumer import Consumer
from services.backbone.kafka.producer import Outgoing, Producer
from services.backbone.service import Life
from services.contracts.ids import alert_id
from services.contracts.records import Alert, Severity
from services.contracts.topics import ALERTS, HEARTBEATS, Topic, heartbeat
from services.heartbeat.__main__ import body
from services.heartbeat.agreement import Shown
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


def pair(name: str) -> tuple[str, str]:
    """Name two auditors: topic `alerts` of the tests' broker is everybody's."""
    return f"a-{name}", f"b-{name}"


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
        heartbeat_auditors=pair(name),
        heartbeat_agree_seconds=3,
        auditor_batch_seconds=5,
        heartbeat_reload_delay_seconds=0.5,
    )


@pytest.fixture
def settings(tmp_path: Path, kafka_bootstrap: str, name: str) -> HeartbeatSettings:
    made = settings_of(tmp_path, kafka_bootstrap, name, WATCH + BEATING)
    TopicAdmin(made, "test").declare([Topic(HEARTBEATS), Topic(ALERTS), Topic(heartbeat(name))])
    return made


@pytest.fixture
def shown() -> Shown:
    return Shown()


@pytest.fixture
def quiet(settings: HeartbeatSettings, shown: Shown, name: str) -> Iterator[Life]:
    """A heartbeat that is started while no watch declares one."""
    (settings.watches_dir / "one.yaml").write_text(WATCH.format(name=name))
    with at_work(settings, shown) as life:
        yield life


@pytest.fixture
def life(settings: HeartbeatSettings, shown: Shown) -> Iterator[Life]:
    """A heartbeat at work."""
    with at_work(settings, shown) as life:
        yield life


@contextmanager
def at_work(settings: HeartbeatSettings, shown: Shown) -> Iterator[Life]:
    """Run a heartbeat; its end must be clean."""
    life = Life()
    thread = threading.Thread(target=lambda: body(settings, life, shown))
    thread.start()
    yield life
    life.stop.set()
    thread.join(30)
    assert not thread.is_alive()


@pytest.fixture
def auditors(settings: HeartbeatSettings, name: str) -> Iterator[None]:
    """Stand-ins of two auditors: each answers each beat, and repeats itself."""
    stop = threading.Event()
    thread = threading.Thread(target=lambda: answer_until(stop, settings, name, pair(name) * 2))
    thread.start()
    yield
    stop.set()
    thread.join(30)


def answer_until(
    stop: threading.Event, settings: HeartbeatSettings, name: str, auditors: Sequence[str]
) -> None:
    consumer = Consumer(settings, "test", group=name, topics=[heartbeat(name)])
    producer = Producer(settings, "test")
    while not stop.is_set():
        for each in consumer.batch(100, 0.1):
            event = orjson.loads(each.value)
            if event["number"] > 10:
                records = [answer(name, event["sensor"], auditor) for auditor in auditors]
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
    return [sample("latency_seconds_count", watch=name, auditor=each) for each in pair(name)]


@pytest.mark.usefixtures("auditors")
def test_beats_come_back_measured_once_per_auditor(life: Life, name: str) -> None:
    wait_until(lambda: min(answers(name)) >= 5, 60, "no beat came back")

    def each_once() -> bool:
        # Beats go on meanwhile, so what must not be less is read later.
        answered = max(answers(name))
        firsts = sample("first_answer_seconds_count", watch=name)
        return answered <= firsts <= sample("sent_total", watch=name)

    wait_until(each_once, 60, "a beat is measured more than once")
    wait_until(lambda: life.health.ready() == {}, 60, "it is not ready")
    assert life.health.live() == {}


@pytest.mark.usefixtures("auditors")
def test_watches_that_are_added_and_removed_are_followed(
    life: Life, settings: HeartbeatSettings, name: str
) -> None:
    """The stand-ins answer for one watch only, so what counts of the other is that it beats."""
    wait_until(lambda: min(answers(name)) >= 1, 60, "no beat came back")
    added = settings.watches_dir / "two.yaml"
    added.write_text((WATCH + BEATING).format(name=name).replace("watch: ", "watch: x-"))
    wait_until(lambda: sample("sent_total", watch=f"x-{name}") >= 5, 60, "the new one beats not")
    wait_until(lambda: life.health.ready() == {}, 60, "it is not ready")
    added.write_text("watch: [")
    wait_until(lambda: "declarations" in life.health.notes(), 60, "the bad file is not told")
    added.unlink()
    wait_until(lambda: "declarations" not in life.health.notes(), 60, "still told")
    sent = sample("sent_total", watch=f"x-{name}")
    before = sample("sent_total", watch=name)
    wait_until(lambda: sample("sent_total", watch=name) >= before + 5, 60, "the first beats not")
    assert sample("sent_total", watch=f"x-{name}") == sent
    assert life.health.ready() == {}


def test_without_an_auditor_the_program_lives_and_is_not_ready(life: Life, name: str) -> None:
    by_one = {"watch": name, "auditor": pair(name)[0]}
    wait_until(lambda: sample("missed_total", **by_one) >= 1, 60, "no beat was missed")
    assert life.health.live() == {}
    silent = {"answers": f"no answer in time for {name}"}
    wait_until(lambda: life.health.ready() == silent, 60, "more is wrong than the silence")


@pytest.mark.usefixtures("auditors")
def test_an_alert_of_only_one_auditor_is_found(
    life: Life, settings: HeartbeatSettings, shown: Shown, name: str
) -> None:
    one, two = pair(name)
    wait_until(lambda: min(answers(name)) >= 1, 60, "no beat came back")
    producer = Producer(settings, "test")

    def raise_alert(key: str, auditor: str) -> None:
        now = life.clock.now_ms()
        alert = answer(name, key, auditor).model_copy(update={"appended_at_ms": now})
        producer.write([Outgoing(ALERTS, alert.alert_id, alert.encode())])

    def planted_is_found() -> bool:
        # Until the program has listened for a while, what is raised begins no comparison.
        second = life.clock.now_ms() // 1000
        for number, auditor in ((1, one), (1, two), (2, one)):
            raise_alert(f"{number}-{second}", auditor)
        return bool(shown.disagreements)

    wait_until(planted_is_found, 60, "the planted disagreement was not found")
    assert {(each.raised_by, each.missing) for each in shown.disagreements} == {((one,), two)}
    assert sample("disagreements_total", watch=name, auditor=two) >= 1
    assert sample("disagreements_total", watch=name, auditor=one) == 0
    only = {alert_id(name, [f"2-{n}"]) for n in seconds_until(life)}
    assert {each.alert_id for each in shown.disagreements} <= only
    producer.close()


def seconds_until(life: Life) -> range:
    """Return the seconds of the last minutes, of which keys were made."""
    now = life.clock.now_ms() // 1000
    return range(now - 300, now + 1)


def test_one_dead_auditor_is_noted_while_the_other_answers(
    life: Life, settings: HeartbeatSettings, name: str
) -> None:
    one, two = pair(name)
    stop = threading.Event()
    thread = threading.Thread(target=lambda: answer_until(stop, settings, name, (one,)))
    thread.start()
    wait_until(lambda: sample("auditor_in_step", watch=name, auditor=one) == 1, 60, "no answer")
    wait_until(lambda: life.health.ready() == {}, 60, "it is not ready")
    assert sample("auditor_in_step", watch=name, auditor=two) == 0
    noted = life.health.notes()["auditors"]
    assert two in noted
    assert one not in noted
    stop.set()
    thread.join(30)
    for auditor in (one, two):
        labels = {"watch": name, "auditor": auditor}
        assert REGISTRY.get_sample_value("aldebaran_heartbeat_disagreements_total", labels) == 0


def test_without_a_watch_that_beats_the_program_runs_and_says_so(
    quiet: Life, settings: HeartbeatSettings, name: str
) -> None:
    wait_until(lambda: "declarations" in quiet.health.notes(), 60, "it is not told")
    assert "declares a heartbeat" in quiet.health.notes()["declarations"]
    wait_until(lambda: quiet.health.ready() == {}, 60, "it is not ready")
    (settings.watches_dir / "one.yaml").write_text((WATCH + BEATING).format(name=name))
    wait_until(lambda: sample("sent_total", watch=name) >= 5, 60, "what was added beats not")
    assert "declarations" not in quiet.health.notes()
    assert quiet.health.live() == {}
