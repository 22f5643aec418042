"""The webhook receiver: plain HTTP by the standard library, which lets a connection just close."""

import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from services.simulator.inbox.faults import HookFaults, Verdict
from services.simulator.inbox.received import Arrival
from services.simulator.inbox.switchboard import Switchboard

BODY_LIMIT_BYTES: Final = 1024 * 1024
HEADERS_KEPT: Final = 50


class HookServer(ThreadingHTTPServer):
    """Listens for webhooks; one thread per connection, each bounded in time."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, switchboard: Switchboard, host: str, port: int) -> None:
        self.switchboard = switchboard
        self.stopping = threading.Event()
        super().__init__((host, port), HookHandler)

    def start(self) -> None:
        """Serve on a thread of its own."""
        threading.Thread(target=self.serve_forever, name="hook", daemon=True).start()

    def stop(self) -> None:
        """Stop listening."""
        self.stopping.set()
        self.shutdown()
        self.server_close()


class HookHandler(BaseHTTPRequestHandler):
    """Takes one request after the other of one connection."""

    protocol_version = "HTTP/1.1"
    timeout = 60
    server: HookServer

    def do_POST(self) -> None:
        """Read the whole request; then keep, refuse, or keep and close without an answer."""
        if self.path.partition("?")[0] != "/hook":
            self._answer(404, b"post to /hook\n")
            return
        body = self._body()
        if body is None:
            return
        board = self.server.switchboard
        faults = board.dials.hook
        verdict = faults.decide(board.rng)
        board.took(self._arrival(body, verdict), f"{self._delivery_id()}: {_shown(body)}")
        board.clock.wait(self.server.stopping, faults.delay_seconds)
        self._finish(verdict, faults)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing; each arrival has its own line."""

    def _body(self) -> bytes | None:
        said = self.headers.get("content-length", "")
        if not said.isdecimal():
            self._answer(411, b"say Content-Length\n")
            return None
        if int(said) > BODY_LIMIT_BYTES:
            self._answer(413, b"too large\n")
            return None
        return self.rfile.read(int(said))

    def _delivery_id(self) -> str:
        return self.headers.get("idempotency-key", "").strip().strip('"')[:1000]

    def _arrival(self, body: bytes, verdict: Verdict) -> Arrival:
        return Arrival(
            way="hook",
            delivery_id=self._delivery_id(),
            verdict=verdict,
            at_ms=self.server.switchboard.clock.now_ms(),
            place=self.path,
            body=body.decode(errors="replace"),
            headers=dict(list(self.headers.items())[:HEADERS_KEPT]),
        )

    def _finish(self, verdict: Verdict, faults: HookFaults) -> None:
        if verdict is Verdict.DROPPED:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        elif verdict is Verdict.REFUSED:
            self._answer(faults.refuse_status, b"refused, because a dial says so\n")
        else:
            self._answer(200, b"kept\n")

    def _answer(self, status: int, text: bytes) -> None:
        self.send_response(status)
        wait = self.server.switchboard.dials.hook.retry_after_seconds
        if status in (429, 503) and wait is not None:
            self.send_header("Retry-After", str(wait))
        if status in (411, 413):
            self.send_header("Connection", "close")
            self.close_connection = True
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


def _shown(body: bytes) -> str:
    return body[:200].decode(errors="replace")
