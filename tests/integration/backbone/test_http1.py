"""A client that offers another protocol is answered as if it had not, and no byte is lost by it."""

import socket
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPResponse

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from structlog.testing import capture_logs

from services.backbone.http import http1
from services.backbone.seldom import Seldom
from services.backbone.service import HttpServer
from services.machine.ports import free_ports

OFFER = (
    b"POST /%d HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\n"
    b"HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA\r\nUpgrade: h2c\r\n"
)
"""As Java's java.net.http.HttpClient begins a request, where nobody has told it otherwise."""
LENGTH, CHUNKED, NO_BODY = (
    b"Content-Length: 7\r\n\r\nabcdefg",
    b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n",
    b"\r\n",
)
PLAIN = b"POST /%d HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi"
HIDDEN = b"POST /9 HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"
"""A body that is a request to who takes it for one."""


@pytest.fixture
def port() -> Iterator[int]:
    """A server that answers with the number asked for and the body."""

    async def echo(request: Request) -> Response:
        body = (await request.body()).decode()
        return PlainTextResponse(f"{request.path_params['number']} {body}")

    (port,) = free_ports(1)
    app = Starlette(routes=[Route("/{number}", echo, methods=["POST"])])
    with HttpServer(app, "127.0.0.1", port):
        yield port


def answered(port: int, pieces: list[bytes], answers: int) -> list[str]:
    """Return the bodies of the answers, and `more` where any came that was not asked for."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as line:
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for piece in pieces:
            line.sendall(piece)
        got = [_answer(line) for _ in range(answers)]
        line.sendall(PLAIN % answers)
        return [*got, _answer(line)]


def _answer(line: socket.socket) -> str:
    with closing(HTTPResponse(line)) as response:
        # A reader of its own may read on into the next answer.
        response.fp = line.makefile("rb", buffering=0)  # type: ignore[assignment] # unbuffered
        response.begin()
        return response.read().decode()


@pytest.mark.parametrize("body", [LENGTH, CHUNKED, NO_BODY], ids=["length", "chunked", "none"])
def test_the_body_behind_an_offer_is_read_and_the_line_goes_on(port: int, body: bytes) -> None:
    said = "" if body is NO_BODY else "abcdefg"
    requests = b"".join((OFFER % 0 + body, PLAIN % 1, OFFER % 2 + body))
    expected = [f"0 {said}", "1 hi", f"2 {said}", "3 hi"]
    assert answered(port, [requests], 3) == expected
    assert answered(port, [OFFER % 0, body, PLAIN % 1, OFFER % 2, body], 3) == expected


def test_wherever_the_line_is_cut_nothing_is_lost(port: int) -> None:
    requests = OFFER % 0 + CHUNKED
    for cut in range(1, len(requests)):
        assert answered(port, [requests[:cut], requests[cut:]], 1) == ["0 abcdefg", "1 hi"]


def test_a_body_is_no_request(port: int) -> None:
    head = OFFER % 0 + b"Content-Length: %d\r\n\r\n" % len(HIDDEN)
    expected = [f"0 {HIDDEN.decode()}", "1 hi"]
    assert answered(port, [head + HIDDEN], 1) == expected
    assert answered(port, [head, HIDDEN], 1) == expected


def test_nobody_is_led_through(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=60) as line:
        line.sendall(b"CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n")
        assert line.makefile("rb").read().startswith(b"HTTP/1.1 400 ")


def test_strangers_who_speak_no_http_fill_no_log(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http1, "STRANGERS", Seldom())
    with capture_logs() as lines:
        for _ in range(5):
            assert refused(port, b"\x16\x03\x01 no HTTP\r\n\r\n") == 400
    assert [(each["event"], each["peer"]) for each in lines] == [("no_http", "127.0.0.1")]


def refused(port: int, data: bytes) -> int:
    """Return the status with which such bytes are answered."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as line:
        line.sendall(data)
        with closing(HTTPResponse(line)) as response:
            response.begin()
            return response.status
