"""Traces on real topics and a real ledger: what is seen, what is not, and what survives."""

import json
import re
import tempfile
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml
from structlog.testing import capture_logs

from services.backbone.clock import ManualClock, SystemClock
from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.producer import Outgoing, Producer, ProducerSettings
from services.backbone.ledger.answers.reading import LedgerReader
from services.backbone.ledger.database import Pool
from services.backbone.service import Life
from services.backbone.web.keys import ApiKey, Keys, key_hash
from services.console.people.audit import Audit
from services.console.people.roles import Role
from services.console.tracing.closing import READ_ON_SECONDS
from services.console.tracing.lines import Line
from services.console.tracing.reading import TOPICS_SECONDS
from services.console.tracing.store import LINES_LIMIT, PAGE_LIMIT, TRACES_LIMIT, LineRow, Traces
from services.console.tracing.tracer import Tracer, topic_reading
from services.contracts import topics
from services.contracts.records import Rejected
from services.contracts.streams import SHIPPED_STREAMS
from services.contracts.topics import Topic, rejected
from services.machine.ports import free_ports
from services.machine.waiting import wait_until
from tests.integration.console.conftest import Console, running
from tests.integration.console.following import followed_to_its_end, run_with
from tests.integration.console.ledger_rows import START, add_alert, add_attempt, add_delivery
from tests.integration.console.test_behind import found
from tests.integration.console.test_people import word

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]

OPERATOR = {"Authorization": "Bearer secret"}


class Ahead(SystemClock):
    """The machine's clock, so many seconds later."""

    def __init__(self, seconds: float) -> None:
        self._ms = int(seconds * 1000)

    def now_ms(self) -> int:
        return super().now_ms() + self._ms


@dataclass
class Scene:
    """A console, a stream of its own, and what follows traces."""

    console: Console
    pool: Pool
    stream: str
    streams: Path
    settings: ProducerSettings
    producer: Producer

    @contextmanager
    def tracer(self, ahead_seconds: float = 0.0, brokers: str = "") -> Iterator[Life]:
        """Follow traces, as the program does; by a clock that is ahead, where it comes later."""
        health = self.console.watcher.life.health
        life = Life(clock=Ahead(ahead_seconds), health=health)
        away = ProducerSettings(kafka_bootstrap_servers=brokers) if brokers else self.settings
        opening = topic_reading(away, self.streams)
        made = Tracer(Traces(self.pool), LedgerReader(self.pool), opening, life)
        thread = threading.Thread(target=made.follow_until_stopped)
        thread.start()
        try:
            yield life
        finally:
            life.stop.set()
            thread.join(60)

    def begin(self, key: str, minutes: int = 5) -> str:
        with self.console.client() as client:
            body = {"key": key, "minutes": minutes, "why": "a test"}
            answer = client.post("/v1/traces", json=body, headers=OPERATOR)
            assert answer.status_code == 201, answer.text
            return str(answer.json()["trace_id"])

    def end(self) -> None:
        """End all traces now, though nobody follows them."""
        with psycopg.connect(self.console.ledger_url) as connection:
            connection.execute("UPDATE traces SET ends_at = clock_timestamp()")

    def send(self, key: str, number: int) -> None:
        value = json.dumps({"id": key, "number": number}).encode()
        self.producer.write([Outgoing(self.stream, key, value)])

    def lines(self, trace_id: str) -> list[LineRow]:
        return Traces(self.pool).lines(trace_id, 0, 500)

    def steps(self, trace_id: str) -> list[str]:
        return [each.step for each in self.lines(trace_id)]

    def see(self, trace_id: str, count: int) -> None:
        wait_until(lambda: len(self.lines(trace_id)) >= count, 60, f"{count} lines are not there")


@pytest.fixture
def scene(pool: Pool, ledger_url: str, kafka_bootstrap: str) -> Iterator[Scene]:
    with tracing(pool, ledger_url, kafka_bootstrap) as made:
        yield made


@contextmanager
def tracing(pool: Pool, ledger_url: str, bootstrap: str) -> Iterator[Scene]:
    """Give a console with an operator's key, and topics at these brokers."""
    settings = ProducerSettings(kafka_bootstrap_servers=bootstrap)
    stream = f"things-{uuid.uuid4().hex}"
    own = (Topic(stream, partitions=4, append_time=True), Topic(rejected(stream)))
    TopicAdmin(settings, "test").declare((*own, *topics.core_topics(["bus"])))
    producer = Producer(settings, "test")
    with tempfile.TemporaryDirectory() as folder, running(pool, ledger_url) as console:
        shipped = yaml.safe_load((SHIPPED_STREAMS / "trades.yaml").read_text())
        (Path(folder) / "own.yaml").write_text(yaml.safe_dump(shipped | {"stream": stream}))
        keys = Keys([ApiKey(name="ann", sha256=key_hash("secret"))], console.watcher.life.clock)
        object.__setattr__(console.door, "keys", keys)
        yield Scene(console, pool, stream, Path(folder), settings, producer)
    producer.close()


def kept_aside(scene: Scene, original: bytes) -> Outgoing:
    told = Rejected.of(
        topic=scene.stream, source="http robot 7", reason="invalid_field", detail="no amount",
        original=original, at_ms=SystemClock().now_ms(),
    )  # fmt: skip
    return Outgoing(rejected(scene.stream), "http robot 7", told.encode())


def try_once(ledger_url: str, alert: str) -> None:
    """Note a claim and its end, now."""
    delivery = add_delivery(ledger_url, alert)
    after = (datetime.now(UTC) - START).total_seconds()
    add_attempt(ledger_url, delivery, 1, after, after + 0.02, "SENT")


def test_every_step_of_one_key_is_seen_and_nothing_of_others(scene: Scene, ledger_url: str) -> None:
    key, other = uuid.uuid4().hex, uuid.uuid4().hex
    scene.send(key, 1)
    with scene.tracer():
        trace = scene.begin(key)
        for each in (key, other):
            scene.send(each, 2)
        now, alert_id = SystemClock().now_ms(), uuid.uuid4().hex
        finding = found(alert_id, "a", now)
        own = finding.value.replace(b'"k":"v"', f'"k":"{key}"'.encode())
        bad = [f'{{"id": "{each}"'.encode() for each in (key, other)]
        scene.producer.write([finding, Outgoing(topics.ALERTS, alert_id, own)])
        scene.producer.write([kept_aside(scene, each) for each in bad])
        alert = add_alert(ledger_url, key, record={"auditor": "a"})
        try_once(ledger_url, alert)
        scene.see(trace, 5)
        assert sorted(scene.steps(trace)) == ["accepted", "claimed", "found", "refused", "sent"]
        assert not [each for each in scene.lines(trace) if other in each.detail]
    (accepted,) = (each for each in scene.lines(trace) if each.step == "accepted")
    assert '"number": 2' in accepted.detail, "what came before is no part of it"


def test_a_key_is_not_crowded_out_by_those_that_begin_like_it(
    scene: Scene, ledger_url: str
) -> None:
    base = f"r{uuid.uuid4().hex}-"
    key = f"{base}1"
    alert = add_alert(ledger_url, key, accepted=0)
    for number in range(50):
        add_alert(ledger_url, f"{key}{number}", accepted=number + 1)
    trace = scene.begin(key)
    with scene.tracer():
        try_once(ledger_url, alert)
        scene.see(trace, 2)
    assert sorted(scene.steps(trace)) == ["claimed", "sent"]
    second = add_delivery(ledger_url, alert, recipient="night@example.org")
    with scene.tracer():
        after = (datetime.now(UTC) - START).total_seconds()
        add_attempt(ledger_url, second, 1, after, after + 0.02, "SENT")
        scene.see(trace, 4)
    assert sorted(scene.steps(trace)) == ["claimed", "claimed", "sent", "sent"]


def test_nothing_is_missed_or_doubled_when_whoever_follows_dies(scene: Scene) -> None:
    key = uuid.uuid4().hex
    with scene.tracer():
        trace = scene.begin(key)
        scene.send(key, 1)
        scene.see(trace, 1)
    for number in (2, 3):
        scene.send(key, number)
    with scene.tracer(), scene.tracer():
        scene.see(trace, 3)
        scene.send(key, 4)
        scene.see(trace, 4)
    with psycopg.connect(scene.console.ledger_url) as connection:
        connection.execute("UPDATE traces SET places = '{}'")
    with scene.tracer():
        scene.send(key, 5)
        scene.see(trace, 5)
    assert scene.steps(trace) == ["accepted"] * 5
    numbers = [each.number for each in scene.lines(trace)]
    assert numbers == sorted(set(numbers))


def test_a_trace_ends_by_itself_though_nobody_was_there(scene: Scene) -> None:
    key = uuid.uuid4().hex
    trace = scene.begin(key)
    scene.send(key, 1)
    scene.end()
    scene.send(key, 2)
    with scene.tracer():
        scene.see(trace, 1)
        second = scene.begin(key)
        scene.send(key, 3)
        scene.see(second, 1)
    (accepted,) = (each for each in scene.lines(trace) if each.step != "over")
    assert '"number": 1' in accepted.detail


@pytest.mark.parametrize("ahead_seconds", [TOPICS_SECONDS + 5, READ_ON_SECONDS / 2])
def test_what_came_before_the_end_is_read_however_late(scene: Scene, ahead_seconds: float) -> None:
    key = uuid.uuid4().hex
    trace = scene.begin(key)
    scene.producer.write([kept_aside(scene, f'{{"id": "{key}"}}'.encode())])
    scene.send(key, 1)
    scene.end()
    scene.send(key, 2)
    with scene.tracer(ahead_seconds):
        scene.see(trace, 3)
    assert sorted(scene.steps(trace)) == ["accepted", "over", "refused"]
    with scene.tracer(), scene.tracer():
        second = scene.begin(key)
        scene.send(key, 3)
        scene.see(second, 1)
    assert len(scene.lines(trace)) == 3, "it is closed"


def test_a_trace_waits_for_brokers_that_are_away_at_its_end(scene: Scene) -> None:
    key = uuid.uuid4().hex
    trace = scene.begin(key)
    scene.send(key, 1)
    scene.end()
    nowhere = f"127.0.0.1:{free_ports(1)[0]}"
    with capture_logs() as logs, scene.tracer(TOPICS_SECONDS + 5, nowhere):
        wait_until(
            lambda: any(each["event"] == "trace_without_topics" for each in logs), 60, "it read on"
        )
    assert scene.lines(trace) == []
    with scene.tracer(TOPICS_SECONDS + 5):
        scene.see(trace, 2)
    assert scene.steps(trace) == ["accepted", "over"]


def test_a_trace_waits_for_declared_streams_that_can_be_read(scene: Scene) -> None:
    key = uuid.uuid4().hex
    trace = scene.begin(key)
    scene.send(key, 1)
    scene.end()
    wrong = scene.streams / "wrong.yaml"
    wrong.write_text("stream: [")
    with scene.console.client() as client, scene.tracer(TOPICS_SECONDS + 5):

        def trouble() -> str:
            answer = client.get(f"/v1/traces/{trace}/lines", headers=OPERATOR).json()
            return answer["trouble"] or ""

        wait_until(lambda: "wrong.yaml" in trouble(), 60, "nobody says which file is wrong")
        assert scene.lines(trace) == []
        wrong.unlink()
        scene.see(trace, 2)
    assert scene.steps(trace) == ["accepted", "over"]


def test_a_trace_that_nobody_could_read_says_so(scene: Scene) -> None:
    key = uuid.uuid4().hex
    trace = scene.begin(key)
    scene.send(key, 1)
    scene.end()
    with scene.tracer(READ_ON_SECONDS + 5):
        scene.see(trace, 1)
    (line,) = scene.lines(trace)
    assert line.step == "cut short"
    assert "within 60 minutes after the end" in line.detail


def test_a_full_trace_says_so_and_is_over(scene: Scene) -> None:
    key = uuid.uuid4().hex
    trace = scene.begin(key)
    lines = [Line(str(each), 0, "accepted", "") for each in range(LINES_LIMIT)]
    assert Traces(scene.pool).add(trace, lines, {})
    assert not Traces(scene.pool).add(trace, [Line("more", 0, "accepted", "")], {})
    newest, are_all = Traces(scene.pool).newest_lines(trace)
    line = newest[0]
    assert (len(newest), are_all) == (PAGE_LIMIT, False)
    assert (line.step, line.detail) == ("cut short", "10,000 lines are there, which is the most")
    told = Traces(scene.pool).one(trace)
    assert told is not None
    assert (told.is_on, told.is_closed) == (False, True)
    with scene.console.client() as client:
        page = client.get(f"/traces/{trace}").text
        assert page.count("data-row") == PAGE_LIMIT
        assert "The newest 500; the others" in page
        told = client.get(f"/v1/traces/{trace}/lines", headers=OPERATOR).json()["trace"]
        assert (told["is_on"], told["is_closed"]) == (False, True)


def test_who_may_begin_and_end_and_how_many(scene: Scene) -> None:
    body: dict[str, Any] = {"key": "one", "minutes": 5, "why": "a test"}
    with scene.console.client() as client:
        assert client.post("/v1/traces", json=body).status_code == 401
        twice = OPERATOR | {"Idempotency-Key": "monday"}
        first, again = (client.post("/v1/traces", json=body, headers=twice) for _ in range(2))
        assert (first.json()["new"], again.json()["new"]) == (True, False)
        assert first.json()["trace_id"] == again.json()["trace_id"]
        assert client.post("/v1/traces", json=body, headers=OPERATOR).status_code == 409
        path = f"/v1/traces/{first.json()['trace_id']}"
        assert client.delete(path, headers=OPERATOR).json()["is_on"] is False
        assert client.delete(path, headers=OPERATOR).status_code == 409
        for number in range(TRACES_LIMIT):
            scene.begin(f"key {number}")
        full = client.post("/v1/traces", json=body, headers=OPERATOR)
        assert full.status_code == 409
        assert "end one first" in full.json()["detail"]
    with scene.console.client("viv", Role.VIEWER) as viewer:
        given = {"word": word(viewer.get("/traces")), "of": "x", "minutes": "5", "why": "y"}
        assert viewer.post("/traces", data=given).status_code == 403
    notes = [(row.person, row.action, row.subject) for row in Audit(scene.pool).newest(50)]
    assert ("ann", "trace", "key one") in notes


def test_the_page_shows_a_trace_while_it_is_on(scene: Scene) -> None:
    key = uuid.uuid4().hex
    with scene.console.client("bob") as bob, scene.tracer():
        given = {"word": word(bob.get(f"/traces?key={key}")), "of": key, "why": "y"}
        wrong = bob.post("/traces", data=given | {"minutes": "0"})
        assert wrong.status_code == 422
        for name, text in (("of", key), ("minutes", "0"), ("why", "y")):
            assert re.search(f'name="{name}"[^>]* value="{text}"', wrong.text)
        page = bob.post("/traces", data=given | {"minutes": "5"})
        trace = page.url.path.removeprefix("/traces/")
        assert 'hx-trigger="every 1s"' in page.text
        scene.send(key, 1)
        scene.see(trace, 1)
        assert "accepted" in bob.get(f"/traces/{trace}/lines").text
        over = bob.post(f"/traces/{trace}/end", data={"word": given["word"]})
        assert 'hx-trigger="every 5s"' in over.text, "its last line is to come"
        assert bob.get("/traces/" + "0" * 32).status_code == 404


def test_by_the_command_line(scene: Scene) -> None:
    run = run_with(scene.console, ManualClock())
    key = uuid.uuid4().hex
    trace = scene.begin(key)
    with scene.tracer():
        scene.send(key, 1)
        scene.see(trace, 1)
    assert f"on   {key}: ann: a test, until" in run("traces")
    told = followed_to_its_end(scene.console, key, ManualClock())
    assert f"# {key} is traced until" in told
    assert "accepted" in told
    assert f"it is over, and still being read; see http://127.0.0.1:18080/traces/{trace}" in told
    assert run("traces").startswith(f"over {key}")
