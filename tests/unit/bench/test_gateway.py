"""What the gateway is measured by: requests that were made before the time began."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import psutil
import pytest

from tests.bench import gateway
from tests.bench.engine import Usage
from tests.bench.gateway import BODIES, SENDERS, measure_requests
from tests.bench.traffic import background


class Accepting(BaseHTTPRequestHandler):
    """Takes every request."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def port() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Accepting) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def test_requests_are_made_before_the_time_begins(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, made_by_look = [], []

    def noted(run: str) -> Iterator[tuple[str, bytes]]:
        for each in background(run):
            made.append(run)
            yield each

    def look(_: list[psutil.Process]) -> Usage:
        made_by_look.append(len(made))
        return Usage(float(len(made_by_look)), 0)

    monkeypatch.setattr(gateway, "background", noted)
    monkeypatch.setattr(gateway, "usage_of", look)
    row = measure_requests((psutil.Process(), psutil.Process()), port, 2, 0.1)
    assert made_by_look == [SENDERS * BODIES * 2] * 4
    assert row.events_per_second > 0 == row.refused
