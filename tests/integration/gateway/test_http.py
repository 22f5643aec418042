"""The gateway as a process on a real broker: nothing that was answered 2xx is ever missing."""

import gzip
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx2
import orjson
import pytest
import zstandard

from services.backbone.web.keys import new_key
from services.contracts.records import Rejected
from services.contracts.streams import load_stream
from services.gateway.senders import entry
from services.machine.installation import setup
from services.machine.ports import free_ports
from services.machine.servers import broker
from services.machine.supervision.child import start_and_wait
from tests.integration.gateway.conftest import StartGateway, declare
from tests.integration.gateway.reading import (
    PATIENCE_SECONDS,
    Senders,
    Stream,
    event,
    get,
    post,
    wait_until,
)

pytestmark = pytest.mark.kafka

GATEWAY = "services.gateway"
MIB = 1024 * 1024


@pytest.fixture
def port() -> int:
    return free_ports(1)[0]


@pytest.fixture
def url(port: int) -> str:
    return f"http://127.0.0.1:{port}"


@pytest.fixture
def open_to_all(start_program: StartGateway, port: int, stream: Stream) -> StartGateway:
    start_program(GATEWAY, port, kafka_bootstrap_servers=stream.bootstrap, api_keys="off")
    return start_program


@pytest.mark.usefixtures("open_to_all")
def test_every_form_of_events_arrives(url: str, stream: Stream) -> None:
    def dumped(numbers: range) -> list[bytes]:
        return [orjson.dumps(event(number)) for number in numbers]

    lines = b"\n".join(dumped(range(1, 100)))
    array = b"[" + b", ".join(dumped(range(100, 1000))) + b"]"
    packed = gzip.compress(b"\n".join(dumped(range(1000, 4000))))
    small = zstandard.compress(b"[" + b",".join(dumped(range(4000, 12_000))) + b"]")
    posts: list[tuple[bytes, dict[str, str]]] = [
        (dumped(range(1))[0], {"content-type": "application/json"}),
        (lines, {"content-type": "application/x-ndjson"}),
        (array, {"content-type": "application/json"}),
        (packed, {"content-type": "application/x-ndjson", "content-encoding": "gzip"}),
        (small, {"content-encoding": "zstd"}),
    ]
    for body, headers in posts:
        response = post(url + stream.path, content=body, headers=headers)
        assert response.status_code == 200, response.text
    wanted = {f"e-{number}" for number in range(12_000)}
    assert sorted(stream.events_until(wanted.__le__)) == sorted(wanted)


@pytest.mark.usefixtures("open_to_all")
def test_bad_ones_are_kept_and_good_ones_go_on(url: str, stream: Stream) -> None:
    long_id = event("x" * 10_000)
    bodies: list[bytes] = [
        orjson.dumps(each)
        for each in (event(1, shares=-1), event(2, shares=0), event(3, shares="1"), long_id)
    ]
    largest = b"[" + b"0" * (4 * MIB - 1)
    bodies += [b'{"kind": ', orjson.dumps(event(4, note="x" * 100_000)), b"\x00\xff", largest]
    for body in bodies:
        response = post(url + stream.path, content=body)
        assert response.status_code == 422, response.text
    mixed = orjson.dumps([event("good"), event("bad", kind="other")])
    response = post(url + stream.path, content=mixed)
    assert (response.status_code, response.json()["accepted"]) == (207, 1)
    for refused in (orjson.dumps(event(5, note="x" * 10 * MIB)), b"[" * 30 * MIB):
        assert post(url + stream.path, content=refused).status_code == 413
    kept: list[Rejected] = stream.rejected(len(bodies) + 1)
    assert [each.original for each in kept[:-1]] == bodies
    assert orjson.loads(kept[-1].original)["event_id"] == "e-bad"
    assert stream.events_until(bool) == ["e-good"]


def test_keys_are_asked_for_and_taken_over_when_changed(
    start_program: StartGateway, url: str, port: int, stream: Stream, tmp_path: Path
) -> None:
    file, first, second = tmp_path / "keys.yaml", new_key(), new_key()
    file.write_text("keys:\n" + entry("first", first, [stream.name]))
    start_program(
        GATEWAY,
        port,
        kafka_bootstrap_servers=stream.bootstrap,
        api_keys_file=str(file),
    )

    def status(key: str) -> int:
        headers = {"authorization": f"Bearer {key}"}
        body = orjson.dumps(event(1))
        return post(url + stream.path, content=body, headers=headers).status_code

    assert (status(first), status(second)) == (200, 401)
    file.write_text("keys:\n" + entry("second", second, ["*"]))
    wait_until(lambda: status(second) == 200, "the new key")
    assert status(first) == 401


def test_without_keys_it_does_not_start() -> None:

    command = [sys.executable, "-m", GATEWAY]
    clean = {k: v for k, v in os.environ.items() if not k.startswith("ALDEBARAN_API_KEYS")}
    ended = subprocess.run(
        command, env=clean, check=False, capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == 78
    assert "keygen NAME" in ended.stderr


def test_a_term_signal_under_load_loses_nothing(
    start_program: StartGateway, url: str, port: int, stream: Stream
) -> None:
    child = start_program(GATEWAY, port, kafka_bootstrap_servers=stream.bootstrap, api_keys="off")
    with Senders(url + stream.path).sending() as senders:
        senders.accept_more(300)
        child.process.send_signal(signal.SIGTERM)
        assert child.process.wait(PATIENCE_SECONDS) == 0
    assert set(senders.statuses) == {200}
    assert senders.accepted <= set(stream.events_until(senders.accepted.__le__))


def test_kill_9_under_load_loses_nothing(
    start_program: StartGateway, url: str, port: int, stream: Stream
) -> None:
    with Senders(url + stream.path).sending() as senders:
        for _ in range(2):
            child = start_program(
                GATEWAY, port, kafka_bootstrap_servers=stream.bootstrap, api_keys="off"
            )
            senders.accept_more(200)
            child.process.kill()
            child.process.wait()
    assert set(senders.statuses) == {200}
    assert senders.accepted <= set(stream.events_until(senders.accepted.__le__))


def test_a_broker_that_goes_and_comes_back_loses_nothing(
    start_program: StartGateway,
    url: str,
    port: int,
    tmp_path: Path,
    aldebaran_tools: Path,
    streams_dir: Path,
) -> None:
    kafka_port, controller_port = free_ports(2)
    node = broker.BrokerNode(tmp_path / "kafka", kafka_port, controller_port, heap_mebibytes=256)
    java, jars = setup.required_java(os.environ), setup.jars_folder(aldebaran_tools, "broker")
    broker.prepare(node, java, jars)
    program, log_file = broker.program(node, java, jars), tmp_path / "kafka.log"
    running = start_and_wait(program, log_file, os.environ)
    try:
        declaration = load_stream(streams_dir / "stream.yaml")
        declare(declaration, node.bootstrap)
        stream = Stream(declaration.stream, node.bootstrap)
        start_program(GATEWAY, port, kafka_bootstrap_servers=node.bootstrap, api_keys="off")
        with Senders(url + stream.path).sending() as senders:
            senders.accept_more(200)
            running.end(0)
            wait_until(lambda: 503 in senders.statuses, "an answer without the broker")
            wait_until(lambda: _ready(url) == 503, "the gateway to say that it is not ready")
            assert get(url + "/healthz/live").status_code == 200
            running = start_and_wait(program, log_file, os.environ)
            senders.accept_more(200)
            wait_until(lambda: _ready(url) == 200, "the gateway to be ready again")
        assert set(senders.statuses) == {200, 503}
        assert senders.accepted <= set(stream.events_until(senders.accepted.__le__))
    finally:
        running.stop()


def _ready(url: str) -> int:
    return get(url + "/healthz/ready").status_code


def test_without_a_broker_it_says_so_and_still_ends_in_time(
    start_program: StartGateway, url: str, port: int, streams_dir: Path, tmp_path: Path
) -> None:
    nobody = f"127.0.0.1:{free_ports(1)[0]}"
    child = start_program(
        GATEWAY, port, page="/healthz/live", kafka_bootstrap_servers=nobody, api_keys="off"
    )
    path = Stream(load_stream(streams_dir / "stream.yaml").stream, nobody).path
    with Senders(url + path).sending() as senders:
        wait_until(lambda: 503 in senders.statuses, "an answer without a broker")
        assert "broker" in get(url + "/healthz/ready").json()["failures"]
        child.process.send_signal(signal.SIGTERM)
        assert child.process.wait(PATIENCE_SECONDS) == 0
    assert set(senders.statuses) == {503}
    log = (tmp_path / f"{GATEWAY}.log").read_text()
    assert [line for line in log.splitlines() if line.startswith("%")] == []  # of Kafka's library


def test_a_slow_body_is_cut_off_and_the_others_go_on(
    start_program: StartGateway, url: str, port: int, stream: Stream
) -> None:
    start_program(
        GATEWAY,
        port,
        kafka_bootstrap_servers=stream.bootstrap,
        api_keys="off",
        body_timeout_seconds="0.5",
    )
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS) as slow:
        head = f"POST {stream.path} HTTP/1.1\r\nHost: gateway\r\nContent-Length: 1000\r\n\r\n{{"
        slow.sendall(head.encode())
        # On a busy machine half a second may end between this one's head and its body.
        wait_until(lambda: post_one(url, stream) == 200, "another to be taken")
        answered = slow.makefile("rb").read()
    assert answered.startswith(b"HTTP/1.1 408 ")
    assert b'"body_too_slow"' in answered


def post_one(url: str, stream: Stream) -> int:
    return post(url + stream.path, content=orjson.dumps(event(1))).status_code


def test_connections_end_now_and_then_and_nothing_is_lost(
    start_program: StartGateway, url: str, port: int, stream: Stream
) -> None:
    settings = {"api_keys": "off", "answers_per_connection": "3"}
    start_program(GATEWAY, port, kafka_bootstrap_servers=stream.bootstrap, **settings)
    with httpx2.Client(base_url=url, timeout=PATIENCE_SECONDS) as publisher:
        answers = [
            publisher.post(stream.path, content=orjson.dumps(event(number)))
            for number in range(200)
        ]
    assert {answer.status_code for answer in answers} == {200}
    ended = sum(answer.headers.get("connection") == "close" for answer in answers)
    assert 0 < ended < 200
    assert len(stream.events_until(lambda found: len(found) == 200)) == 200


@pytest.mark.usefixtures("open_to_all")
def test_a_gzip_bomb_is_413_and_the_gateway_stays_small(url: str, stream: Stream) -> None:
    bomb = gzip.compress(bytes(512 * MIB), compresslevel=1)
    response = post(url + stream.path, content=bomb, headers={"content-encoding": "gzip"})
    assert (response.status_code, response.json()["title"]) == (413, "too_large")
    memory = get(url + "/metrics").text.partition("\nprocess_resident_memory_bytes ")[2]
    assert float(memory.split()[0]) < 300 * MIB


@pytest.mark.usefixtures("open_to_all")
def test_the_metrics_count_what_happened(url: str, stream: Stream) -> None:
    post(url + stream.path, content=orjson.dumps([event(1), event(2), 3]))
    shown = get(url + "/metrics").text
    for result, count in (("accepted", 2), ("rejected", 1), ("retry", 0)):
        line = f'aldebaran_gateway_events_total{{result="{result}",stream="{stream.name}"}}'
        assert f"{line} {count}.0" in shown
    assert 'aldebaran_gateway_requests_total{status="207"} 1.0' in shown
