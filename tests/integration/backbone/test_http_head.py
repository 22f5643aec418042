"""What comes before and behind a body is bounded, whoever sends it; bodies are not."""

import socket
from collections.abc import Iterator

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from services.backbone.http.head import HEAD_LIMIT_BYTES
from services.backbone.service import HttpServer
from services.machine.ports import free_ports

KIB = 1024
MIB = 1024 * KIB


@pytest.fixture
def port() -> Iterator[int]:
    """A server that says how many bytes a body has."""

    async def size(request: Request) -> Response:
        return PlainTextResponse(str(len(await request.body())))

    (port,) = free_ports(1)
    app = Starlette(routes=[Route("/", size, methods=["GET", "POST"])])
    with HttpServer(app, "127.0.0.1", port):
        yield port


@pytest.mark.parametrize(
    ("begin", "more"),
    [
        (b"GET /", b"a"),
        (b"GET / HTTP/1.1\r\nX: ", b"a"),
        (b"GET / HTTP/1.1\r\n", b"X: a\r\n"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX: ", b"a"),
    ],
    ids=["address", "header", "headers", "trailer"],
)
def test_a_head_without_an_end_ends_the_connection(port: int, begin: bytes, more: bytes) -> None:
    pieces = [more * (64 * KIB // len(more))] * 512
    with socket.create_connection(("127.0.0.1", port), timeout=60) as endless:
        endless.sendall(begin)
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            any(map(endless.sendall, pieces))
    assert httpx2.get(f"http://127.0.0.1:{port}").text == "0"


def test_a_head_over_the_limit_is_told_so(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=60) as sender:
        answers = sender.makefile("rb")
        sender.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nX: ")
        assert answers.readline().startswith(b"HTTP/1.1 200 ")
        sender.sendall(b"a" * (HEAD_LIMIT_BYTES + 1))
        assert b"HTTP/1.1 431 " in answers.read()


def test_each_request_of_a_connection_is_counted_anew_and_bodies_are_not(port: int) -> None:
    headers = {"X-Long": "a" * (HEAD_LIMIT_BYTES // 2)}
    with httpx2.Client(base_url=f"http://127.0.0.1:{port}", headers=headers) as sender:
        for _ in range(4):
            assert sender.post("/", content=bytes(MIB)).text == str(MIB)
            assert sender.post("/", content=iter([bytes(100)] * 1000)).text == "100000"
