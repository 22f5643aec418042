"""The HTTP side: plain HTTP by the standard library, which lets a connection just close."""

import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from services.backbone.log import logger
from services.simulator.inbox.faults import NOISE, Faults, Strange, Verdict
from services.simulator.inbox.provider import (
    Closing,
    Desk,
    Provider,
    ProviderAnswer,
    ProviderRequest,
    Sending,
    open_provider,
    prefix,
    provider_names,
)
from services.simulator.inbox.received import Arrival
from services.simulator.inbox.switchboard import Switchboard

BODY_LIMIT_BYTES: Final = 1024 * 1024
HEADERS_KEPT: Final = 50
PAGE: Final = ProviderAnswer(200, b"<html><p>Please sign in.</p></html>\n", media_type="text/html")
NOT_KEPT: Final = ProviderAnswer(
    503, b"not kept, as the disk does not take it just now: come again\n", media_type="text/plain"
)

log = logger(__name__)


class WebServer(ThreadingHTTPServer):
    """Listens for all HTTP providers; one thread per connection, each bounded in time."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, switchboard: Switchboard, host: str, port: int) -> None:
        self.switchboard = switchboard
        self.stopping = threading.Event()
        self._providers = {
            prefix(name): (name, open_provider(name, self._desk(name))) for name in provider_names()
        }
        super().__init__((host, port), WebHandler)

    def start(self) -> None:
        """Serve on a thread of its own."""
        threading.Thread(target=self.serve_forever, name="web", daemon=True).start()

    def stop(self) -> None:
        """Stop listening."""
        self.stopping.set()
        for _, provider in self._providers.values():
            if isinstance(provider, Closing):
                provider.close()
        self.shutdown()
        self.server_close()

    def provider(self, path: str) -> tuple[str, str, Provider] | None:
        """Return name and provider that a path belongs to, and the rest of the path."""
        for start, (name, provider) in self._providers.items():
            if path == start or path.startswith(start + "/"):
                return name, path.removeprefix(start), provider
        return None

    def _desk(self, name: str) -> Desk:
        board = self.switchboard
        return Desk(board.clock, lambda: board.faults(name), self._later, board.took)

    def _later(self, seconds: float, work: Callable[[], None]) -> None:
        def wait_and_work() -> None:
            if not self.switchboard.clock.wait(self.stopping, seconds):
                work()

        threading.Thread(target=wait_and_work, name="later", daemon=True).start()


class WebHandler(BaseHTTPRequestHandler):
    """Takes one request after the other of one connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    """An answer is two writes, and the second would wait 40 ms for the first to be acknowledged."""
    timeout = 60
    server: WebServer

    def do_GET(self) -> None:
        """Answer a question."""
        self._serve(b"")

    def do_POST(self) -> None:
        """Read the whole request; then keep, refuse, or keep and close without an answer."""
        body = self._body()
        if body is not None:
            self._serve(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing; each arrival has its own line."""

    def _serve(self, body: bytes) -> None:
        url = urlsplit(self.path)
        found = self.server.provider(url.path)
        if found is None:
            self._answer(ProviderAnswer(404, b"nobody is played here\n", media_type="text/plain"))
            return
        name, rest, provider = found
        headers = {key.lower(): value for key, value in list(self.headers.items())[:HEADERS_KEPT]}
        query = dict(parse_qsl(url.query, keep_blank_values=True))
        request = ProviderRequest(self.command, rest, query, headers, body)
        read = provider.read(request)
        if isinstance(read, ProviderAnswer):
            self._answer(read)
        else:
            self._deal(name, provider, request, read)

    def _deal(
        self, name: str, provider: Provider, request: ProviderRequest, sending: Sending
    ) -> None:
        board = self.server.switchboard
        faults = board.faults(name)
        verdict = faults.decide(board.rng)
        try:
            board.took(self._arrival(name, request, sending, verdict), sending.shown)
        except OSError as error:
            log.warning("not_kept", way=name, reason=str(error))
            self._answer(NOT_KEPT)
            return
        if verdict is Verdict.REFUSED:
            answer = provider.refuse(faults.refuse_status)
        else:
            answer = provider.take(request, sending)
        board.clock.wait(self.server.stopping, faults.delay_seconds)
        if verdict is Verdict.REFUSED or (
            verdict is Verdict.ACCEPTED and not faults.strange_answers
        ):
            self._answer(answer, faults)
        elif verdict is Verdict.ACCEPTED and faults.strange_answers is Strange.PAGE:
            self._answer(PAGE)
        else:
            self._leave(b"" if verdict is Verdict.DROPPED else NOISE)

    def _leave(self, last_bytes: bytes) -> None:
        self.wfile.write(last_bytes)
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def _body(self) -> bytes | None:
        said = self.headers.get("content-length", "")
        if not said.isdecimal():
            self._end(411, b"say Content-Length\n")
            return None
        if int(said) > BODY_LIMIT_BYTES:
            self._end(413, b"too large\n")
            return None
        body = self.rfile.read(int(said))
        if len(body) < int(said):
            self.close_connection = True  # the sender was gone before it had said all
            return None
        return body

    def _arrival(
        self, name: str, request: ProviderRequest, sending: Sending, verdict: Verdict
    ) -> Arrival:
        return Arrival(
            way=name,
            delivery_id=sending.delivery_id,
            verdict=verdict,
            at_ms=self.server.switchboard.clock.now_ms(),
            place=self.path,
            body=request.body.decode(errors="replace"),
            headers=dict(request.headers),
        )

    def _end(self, status: int, text: bytes) -> None:
        """Answer without having read the body, so the connection cannot be used any more."""
        self.close_connection = True
        headers = {"Connection": "close"}
        self._answer(ProviderAnswer(status, text, headers, media_type="text/plain"))

    def _answer(self, answer: ProviderAnswer, faults: Faults | None = None) -> None:
        self.send_response(answer.status)
        wait = faults.retry_after_seconds if faults else None
        if answer.status in (429, 503) and wait is not None:
            self.send_header("Retry-After", str(wait))
        for key, value in answer.headers.items():
            self.send_header(key, value)
        self.send_header("Content-Type", answer.media_type)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)
