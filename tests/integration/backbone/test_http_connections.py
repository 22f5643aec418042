"""Connections that ask for nothing end, and give way to those that do."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from select import select
from threading import Event, Semaphore

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from services.backbone import service
from services.backbone.http import connections as http_connections
from services.backbone.http.connections import connections_limit
from services.backbone.service import HttpServer
from services.machine.ports import free_ports

LIMIT = 8
ASKED = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


class Held:
    """A server whose `/held` answers when the test says so."""

    def __init__(self) -> None:
        self.release = Event()
        self.at_work = Semaphore(0)
        (self.port,) = free_ports(1)

    async def at_once(self, _: Request) -> Response:
        return PlainTextResponse("ok")

    async def held(self, _: Request) -> Response:
        self.at_work.release()
        await run_in_threadpool(self.release.wait, 60)
        return PlainTextResponse("at last")

    async def large(self, _: Request) -> Response:
        return PlainTextResponse("x" * 8_000_000)

    def app(self) -> Starlette:
        pages = {"/": self.at_once, "/held": self.held, "/large": self.large}
        return Starlette(routes=[Route(path, page) for path, page in pages.items()])

    def connected(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    monkeypatch.setattr(http_connections, "MOST_CONNECTIONS", LIMIT)
    held = Held()
    with HttpServer(held.app(), "127.0.0.1", held.port):
        yield held
        held.release.set()


def ended(connection: socket.socket) -> bool:
    """Tell, once it is over, that nothing more came."""
    return connection.recv(1) == b""


@pytest.mark.parametrize(
    "begin", [b"", b"GET / HTTP/1.1\r\nX: a", ASKED, ASKED + b"\r\n", ASKED + b"GET / HT"]
)
def test_who_sends_no_whole_head_in_time_is_ended(
    monkeypatch: pytest.MonkeyPatch, begin: bytes
) -> None:
    monkeypatch.setattr(service, "IDLE_CONNECTION_SECONDS", 1)
    held = Held()
    with HttpServer(held.app(), "127.0.0.1", held.port), held.connected() as silent:
        silent.sendall(begin)
        answers = silent.makefile("rb").read()
    assert answers.count(b"HTTP/1.1 200 ") == begin.count(ASKED)


def test_a_slow_answer_is_not_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "IDLE_CONNECTION_SECONDS", 1)
    held = Held()
    with HttpServer(held.app(), "127.0.0.1", held.port), held.connected() as slow:
        slow.sendall(ASKED.replace(b"GET /", b"GET /held"))
        with held.connected() as silent:
            assert ended(silent), "a second is over"
        held.release.set()
        assert b" 200 " in slow.recv(100)


def test_the_longest_idle_give_way_to_new_ones(held: Held) -> None:
    with ExitStack() as open_ones:
        silent = [open_ones.enter_context(held.connected()) for _ in range(10 * LIMIT)]
        assert httpx2.get(f"http://127.0.0.1:{held.port}/").text == "ok"
        assert all(ended(each) for each in silent[:-LIMIT])
        silent[-1].sendall(ASKED)
        assert b" 200 " in silent[-1].recv(100)


def test_where_all_are_at_work_a_new_one_is_told_to_come_again(held: Held) -> None:
    with ExitStack() as open_ones:
        working = [open_ones.enter_context(held.connected()) for _ in range(LIMIT - 1)]
        for each in working:
            each.sendall(ASKED.replace(b"GET /", b"GET /held"))
            assert held.at_work.acquire(timeout=60)
        assert httpx2.get(f"http://127.0.0.1:{held.port}/").status_code == 503
        held.release.set()
        assert all(b" 200 " in each.recv(100) for each in working)
        assert httpx2.get(f"http://127.0.0.1:{held.port}/").text == "ok"


@pytest.mark.parametrize(
    ("descriptors", "connections"), [(256, 64), (1024, 256), (16_384, 4096), (1_048_576, 4096)]
)
def test_two_ports_leave_half_of_the_descriptors_for_other_things(
    descriptors: int, connections: int
) -> None:
    assert connections_limit(descriptors) == connections


def test_who_reads_no_answer_gives_way(held: Held) -> None:
    with ExitStack() as open_ones:
        for _ in range(LIMIT - 1):
            deaf = open_ones.enter_context(socket.socket())
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            deaf.connect(("127.0.0.1", held.port))
            deaf.sendall(ASKED.replace(b"GET /", b"GET /large") * 2)
            assert select([deaf], [], [], 60)[0], "its answer has begun"
        assert httpx2.get(f"http://127.0.0.1:{held.port}/").text == "ok"
