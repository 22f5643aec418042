"""What was refused, read from real topics by the API, the page and the command line."""

import asyncio
import io
import json
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from subprocess import Popen
from typing import Any

import httpx2
import pytest
import yaml
from confluent_kafka import Producer as Client
from confluent_kafka.admin import AdminClient

from services.aldebaran.__main__ import carry_out, parser
from services.aldebaran.client import CommandSettings, console_client
from services.backbone.clock import ManualClock, SystemClock
from services.backbone.errors import Transient
from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.newest import Newest, NoSuchTopic, Room
from services.backbone.kafka.producer import Outgoing, Producer, ProducerSettings
from services.backbone.ledger.database import Pool
from services.backbone.web.problems import Problem
from services.console.aside import Aside
from services.console.newest_first import SHOWN_LIMIT_BYTES, NewestFirst, Wanted
from services.contracts.events import EVENT_LIMIT_BYTES
from services.contracts.records import Rejected
from services.contracts.streams import SHIPPED_STREAMS, load_streams, stream_topics
from services.contracts.topics import Topic, deliveries, rejected
from services.gateway.intake import Intake, open_intakes
from services.gateway.media import Form
from services.gateway.split import Parts, split
from services.machine.ports import free_ports
from services.machine.waiting import wait_until
from tests.integration.console.conftest import Console, running

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]

GOOD = '{"kind": "request", "id": "R-1", "client": "c-1", "security": "s", "shares": 5}'


@dataclass
class Scene:
    """A console and a stream of the test's own, in which the gateway keeps things aside."""

    console: Console
    stream: str
    streams_dir: Path
    settings: ProducerSettings

    def send(self, bodies: Sequence[bytes], form: Form = Form.LINES) -> None:
        """Have the gateway's own intake judge and write each."""
        with closing(Producer(self.settings, "test")) as producer:
            intake = open_intakes(self.streams_dir, producer, SystemClock())[self.stream]
            for each in bodies:
                asyncio.run(_taken(intake, split(each, form)))

    def ask(self, stream: str = "", **query: Any) -> Any:
        with self.console.client() as client:
            answer = client.get(f"/v1/streams/{stream or self.stream}/rejected", params=query)
            return {"status": answer.status_code} | answer.json()

    def command(self, *arguments: str) -> str:
        settings = CommandSettings.model_validate({"console_url": self.console.url})
        out, client = io.StringIO(), console_client(settings)
        with closing(client):
            carry_out(parser().parse_args(["rejected", *arguments]), client, ManualClock(), out)
        return out.getvalue()


async def _taken(intake: Intake, parts: Parts) -> None:
    verdicts = await intake.judge(parts)
    outcomes = await intake.write(await intake.prepare(parts, verdicts, "http robot 7"))
    assert set(outcomes) == {None}


def declared(folder: Path) -> str:
    """Write the shipped stream's declaration under a name of this test's own."""
    folder.mkdir(exist_ok=True)
    shipped = yaml.safe_load((SHIPPED_STREAMS / "trades.yaml").read_text())
    name = f"t-{uuid.uuid4().hex}"
    (folder / f"{name}.yaml").write_text(yaml.safe_dump(shipped | {"stream": name}))
    return name


@pytest.fixture
def scene(pool: Pool, ledger_url: str, kafka_bootstrap: str, tmp_path: Path) -> Iterator[Scene]:
    streams = tmp_path / "streams"
    name = declared(streams)
    settings = ProducerSettings(kafka_bootstrap_servers=kafka_bootstrap)
    TopicAdmin(settings, "test").declare(stream_topics(load_streams(streams)[name]))
    wait_until(lambda: is_led(settings, rejected(name)), 60, "a partition has no leader")
    with running(pool, ledger_url, brokers=kafka_bootstrap, streams=streams) as console:
        yield Scene(console, name, streams, settings)


NEGATIVE = GOOD.replace("5}", "-5}").encode()
LONG = b'{"id": "' + b"x" * EVENT_LIMIT_BYTES + b'"}'
BAD = (b"{no JSON <b>", b"\xff\x00\xfe", LONG, NEGATIVE, b"[1]")


def test_all_kinds_are_shown_the_newest_first(scene: Scene) -> None:
    assert scene.ask()["rows"] == []
    assert "nothing was refused" in scene.command(scene.stream)
    scene.send(BAD)
    told = scene.ask()
    assert told["looked"] == {"records": len(BAD), "whole": True}
    rows = told["rows"]
    assert [row["reason"] for row in rows] == [
        "not_an_object", "invalid_field", "too_large", "not_json", "not_json",
    ]  # fmt: skip
    assert {row["source"] for row in rows} == {"http robot 7 0"}
    assert [row["encoding"] for row in rows] == ["utf-8", "utf-8", "utf-8", "base64", "utf-8"]
    assert rows[1]["original"] == NEGATIVE.decode()
    assert "shares" in rows[1]["detail"]
    assert (rows[2]["cut"], rows[2]["size_bytes"]) == (True, len(LONG))
    assert len(rows[2]["original"]) == SHOWN_LIMIT_BYTES
    assert rows[3]["original"] == "/wD+"


def test_limits_and_words(scene: Scene) -> None:
    scene.send(BAD)
    first = scene.ask(limit=2)
    assert [row["place"].rpartition("/")[2] for row in first["rows"]] == ["4", "3"]
    assert first["looked"]["whole"] is False
    assert [row["original"] for row in scene.ask(contains='"R-1"')["rows"]] == [NEGATIVE.decode()]
    assert len(scene.ask(contains="not_json")["rows"]) == 2
    assert scene.ask(contains="nowhere")["rows"] == []
    assert scene.ask(limit=0)["status"] == scene.ask(contains="x" * 201)["status"] == 422


def test_pages_go_on_where_the_one_before_ended(scene: Scene) -> None:
    scene.send(BAD)
    places, cursor = [], None
    for left in (3, 1, 0):
        told = scene.ask(limit=2, **({"cursor": cursor} if cursor else {}))
        places += [int(row["place"].rpartition("/")[2]) for row in told["rows"]]
        cursor = told["next_cursor"]
        assert (cursor is None) == told["looked"]["whole"] == (left == 0)
    assert places == [4, 3, 2, 1, 0]
    searched = scene.ask(limit=1, contains="not_json")
    assert [row["original"] for row in searched["rows"]] == ["/wD+"]
    further = scene.ask(limit=1, contains="not_json", cursor=searched["next_cursor"])
    assert [row["original"] for row in further["rows"]] == [BAD[0].decode()]
    assert scene.ask(cursor="yesterday")["title"] == "bad_cursor"


def test_originals_are_taken_once_the_declaration_is_mended(scene: Scene) -> None:
    long = json.dumps(json.loads(NEGATIVE) | {"note": "x" * 9000}, indent=1).encode()
    scene.send([NEGATIVE, b"{no JSON <b>", long], Form.LOOK)
    lines = scene.command(scene.stream, "--originals").splitlines()
    assert [json.loads(each) for each in lines] == [json.loads(NEGATIVE), json.loads(long)]
    file = scene.streams_dir / f"{scene.stream}.yaml"
    mended = yaml.safe_load(file.read_text())
    mended["fields"]["shares"]["minimum"] = -10
    mended["fields"]["stock"]["required"] = False
    file.write_text(yaml.safe_dump(mended))
    scene.send(["\n".join(lines).encode()])
    assert len(scene.ask()["rows"]) == 3


def test_the_page_and_the_command_line_show_the_same(scene: Scene) -> None:
    scene.send(BAD)
    with scene.console.client() as client:
        page = client.get(f"/streams/{scene.stream}/rejected").text
        assert "{no JSON &lt;b&gt;" in page
        assert f"cut: only the beginning of {len(LONG)} bytes" in page
        assert "base64" in page
    environment = os.environ | {"ALDEBARAN_CONSOLE_URL": scene.console.url}
    command = [sys.executable, "-m", "services.aldebaran", "rejected"]

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, *arguments], env=environment, capture_output=True, text=True, check=False
        )

    told = run(scene.stream, "--limit", "2")
    assert (told.returncode, told.stderr) == (0, "")
    lines = told.stdout.splitlines()
    assert "not_an_object: an event is a JSON object, not list [http robot 7 0]" in lines[0]
    assert lines[1] == "    [1]"
    assert lines[3] == f"    {NEGATIVE.decode()}"
    assert lines[4].startswith("# there may be older ones")
    as_json = run(scene.stream, "--json").stdout.splitlines()
    assert as_json == [line for line in as_json if line.startswith("{")]
    assert len(as_json) == len(BAD)
    unknown = run("nosuch")
    assert unknown.returncode == 1
    assert f"no stream nosuch is declared; there are: {scene.stream}" in unknown.stderr


def test_the_program_reads_the_streams_it_is_told(scene: Scene) -> None:
    scene.send(BAD)
    port = free_ports(1)[0]
    told = {
        "ALDEBARAN_POSTGRES_URL": scene.console.ledger_url,
        "ALDEBARAN_HTTP_PORT": str(port),
        "ALDEBARAN_KAFKA_BOOTSTRAP_SERVERS": scene.settings.kafka_bootstrap_servers,
        "ALDEBARAN_STREAMS_DIR": str(scene.streams_dir),
    }
    command = [sys.executable, "-m", "services.console"]
    with Popen(command, env=os.environ | told) as process:
        try:
            wait_until(lambda: is_ready(port), 60, "the console is not ready")
            url = f"http://127.0.0.1:{port}/v1/streams/{scene.stream}/rejected"
            rows = httpx2.get(url, timeout=60).json()["rows"]
        finally:
            process.terminate()
    assert process.returncode == 0
    assert [row["original"] for row in rows][:2] == ["[1]", NEGATIVE.decode()]


def is_ready(port: int) -> bool:
    try:
        return httpx2.get(f"http://127.0.0.1:{port}/healthz/ready").status_code == 200
    except httpx2.TransportError:
        return False


def test_what_programs_set_aside_of_each_others_records_is_shown_too(scene: Scene) -> None:
    topic = deliveries(uuid.uuid4().hex)
    TopicAdmin(scene.settings, "test").declare((Topic(rejected(topic)),))
    record = Rejected.of(
        topic=topic,
        source="deliverer",
        reason="not-in-ledger",
        detail="no row",
        original=b'{"alert_id": "a1"}',
        at_ms=7,
    )
    with closing(Producer(scene.settings, "test")) as producer:
        producer.write([Outgoing(rejected(topic), "k", record.encode())])
    (row,) = scene.ask(topic)["rows"]
    assert (row["reason"], row["original"]) == ("not-in-ledger", '{"alert_id": "a1"}')
    assert "not-in-ledger: no row [deliverer]" in scene.command(topic)
    with scene.console.client() as client:
        assert "no row" in client.get(f"/streams/{topic}/rejected").text
    for name in (deliveries("nobody"), deliveries("no body"), deliveries("x" * 180)):
        absent = scene.ask(name)
        assert (absent["status"], absent["title"]) == (404, "no_such_topic")
    assert scene.ask("heartbeats")["title"] == "no_such_stream"


def test_what_is_not_there_is_told(scene: Scene) -> None:
    unknown = scene.ask("nosuch")
    assert (unknown["status"], unknown["title"]) == (404, "no_such_stream")
    assert scene.stream in unknown["detail"]
    topicless = declared(scene.streams_dir)
    absent = scene.ask(topicless)
    assert (absent["status"], absent["title"]) == (404, "no_such_topic")
    assert "services.topics" in absent["detail"]
    (scene.streams_dir / "wrong.yaml").write_text("stream: [")
    assert scene.ask()["title"] == "streams_unreadable"


def test_brokers_that_are_away_are_told(console: Console) -> None:
    with console.client() as client:
        told = client.get("/v1/streams/trades/rejected")
        assert (told.status_code, told.json()["title"]) == (503, "topics_away")
        assert "Retry-After" in told.headers
        assert "trades.rejected" in told.json()["detail"]
        assert client.get("/streams/trades/rejected").status_code == 503


def test_who_may_not_look_at_alerts_may_not_look_here(pool: Pool, ledger_url: str) -> None:
    with running(pool, ledger_url, open_to_readers=False) as console, console.client() as client:
        assert client.get("/v1/streams/trades/rejected").status_code == 401


def test_nobody_reads_beside_another_for_long(kafka_bootstrap: str) -> None:
    settings = ProducerSettings(kafka_bootstrap_servers=kafka_bootstrap)
    topics = NewestFirst(settings, SystemClock(), Room(seconds=0.1))
    with topics._turn, pytest.raises(Problem, match="topics_busy"):  # noqa: SLF001 - as a reader does
        Aside(topics, SHIPPED_STREAMS).newest("trades", Wanted(1))


def written(bootstrap: str, partitions: int, values: Sequence[bytes]) -> str:
    """Make a topic whose records take turns on its partitions, each a second after the other."""
    topic = rejected(f"n-{uuid.uuid4().hex}")
    settings = ProducerSettings(kafka_bootstrap_servers=bootstrap)
    TopicAdmin(settings, "test").declare((Topic(topic, partitions=partitions),))
    wait_until(lambda: is_led(settings, topic), 60, "a partition has no leader")
    now = SystemClock().now_ms()
    with closing(Client({"bootstrap.servers": bootstrap})) as client:
        for number, value in enumerate(values):
            at_ms = now + number * 1000
            client.produce(topic, value, partition=number % partitions, timestamp=at_ms)
        assert client.flush(60) == 0
    return topic


def is_led(settings: ProducerSettings, topic: str) -> bool:
    """A broker hears of a new topic after its controller, and leads its partitions yet later."""
    with Newest(settings, SystemClock(), topic, Room(seconds=60.0)) as newest:
        try:
            return list(newest.records()) == []
        except (NoSuchTopic, Transient):
            return False


@pytest.mark.parametrize("partitions", [1, 3])
@pytest.mark.parametrize("count", [0, 1, 5, 200])
def test_reading_backwards_is_writing_reversed(
    kafka_bootstrap: str, partitions: int, count: int
) -> None:
    values = [b"%d " % number + b"x" * (number * 37 % 500) for number in range(count)]
    topic = written(kafka_bootstrap, partitions, values)
    settings = ProducerSettings(kafka_bootstrap_servers=kafka_bootstrap)
    for limit in (1, 7, 1000):
        with Newest(settings, SystemClock(), topic, Room(seconds=60.0)) as newest:
            read = [each.value for each in islice(newest.records(), limit)]
            assert read == values[::-1][:limit]
            assert newest.is_whole
    # Held by a name: a client that nobody holds drops the answers that it is about to give.
    admin = AdminClient({"bootstrap.servers": kafka_bootstrap})
    groups = admin.list_consumer_groups().result(60)
    assert not [each for each in groups.valid if each.group_id in ("window", "newest")]


@pytest.mark.parametrize(
    "room", [Room(records=50, seconds=60.0), Room(size_bytes=20_000, seconds=60.0)]
)
def test_where_room_is_short_the_newest_are_there_without_a_gap(
    kafka_bootstrap: str, room: Room
) -> None:
    values = [b"%d " % number + b"x" * 990 for number in range(200)]
    topic = written(kafka_bootstrap, 1, values)
    settings = ProducerSettings(kafka_bootstrap_servers=kafka_bootstrap)
    with Newest(settings, SystemClock(), topic, room) as newest:
        read = [each.value for each in newest.records()]
    assert 10 <= len(read) <= 50
    assert read == values[::-1][: len(read)]
    assert not newest.is_whole
    assert newest.looked_through == len(read)


@pytest.mark.parametrize("partitions", [1, 3])
def test_reading_goes_on_before_a_place_of_each_partition(
    kafka_bootstrap: str, partitions: int
) -> None:
    values = [b"%d" % number for number in range(60)]
    topic = written(kafka_bootstrap, partitions, values)
    settings = ProducerSettings(kafka_bootstrap_servers=kafka_bootstrap)
    before: dict[int, int] = {}
    read: list[bytes] = []
    for _ in range(6):
        room = Room(seconds=60.0)
        with Newest(settings, SystemClock(), topic, room, dict(before)) as newest:
            for each in islice(newest.records(), 10):
                before[each.partition] = each.offset
                read.append(each.value)
    assert read == values[::-1]


def test_no_time_reads_nothing(kafka_bootstrap: str) -> None:
    topic = written(kafka_bootstrap, 1, [b"x"])
    settings = ProducerSettings(kafka_bootstrap_servers=kafka_bootstrap)
    with Newest(settings, SystemClock(), topic, Room(seconds=0.0)) as newest:
        try:
            assert list(newest.records()) == []
        except Transient:  # the brokers' answer took longer than the least that is waited for
            return
        assert not newest.is_whole
