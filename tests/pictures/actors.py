"""Programs that are played for pictures: they are ready, and their counters grow."""

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from services.backbone.metrics import LATENCY_BUCKETS_SECONDS

PARTS: Final = (
    "inbox", "gateway", "auditor-a", "auditor-b", "lookout", "heartbeat", "deliverer-email",
    "deliverer-sms", "deliverer-webhook", "deliverer-pagerduty", "archivist", "accountant",
)  # fmt: skip
STEP_SECONDS: Final = 0.1


class Play:
    """Metrics of all programs in one registry."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._gauges: dict[str, Gauge] = {}
        self._rng = random.Random(3)
        name = "aldebaran_gateway_events"
        self._events = Counter(name, "-", ["stream", "result"], registry=self.registry)
        self._rows = Counter("aldebaran_auditor_rows", "-", ["watch"], registry=self.registry)
        self._beat = self._histogram("heartbeat_latency", ["watch", "auditor"])
        self._told = self._histogram("lookout_detected_to_published", [])
        self._sent = self._histogram("deliverer_first_byte", ["channel"])
        for auditor in "ab":
            self._gauge("heartbeat_answer_age_seconds", watch="over-purchase", auditor=auditor)
            self._gauge("heartbeat_auditor_in_step", 1, watch="over-purchase", auditor=auditor)
        self._gauge("lookout_outbox_unpublished")
        self._gauge("accountant_findings", kind="missing_alert")
        for channel in ("email", "sms", "webhook", "pagerduty"):
            self._gauge("deliverer_overdue_seconds", channel=channel)
            self._gauge("deliverer_breakers_open", int(channel == "pagerduty"), channel=channel)

    def step(self) -> None:
        """Let a tenth of a second of work be done."""
        rng = self._rng
        events = rng.gauss(125, 14)
        self._events.labels("trades", "accepted").inc(max(0, events))
        self._rows.labels("over-purchase").inc(max(0, 2 * events))
        for auditor in "ab":
            seconds = rng.lognormvariate(-6.1, 0.35)
            self._beat.labels("over-purchase", auditor).observe(seconds)
        self._told.observe(rng.lognormvariate(-4.9, 0.3))
        self._sent.labels("email").observe(rng.lognormvariate(-4.4, 0.3))

    def _histogram(self, name: str, labels: list[str]) -> Histogram:
        return Histogram(
            f"aldebaran_{name}_seconds", "-", labels, registry=self.registry,
            buckets=LATENCY_BUCKETS_SECONDS,
        )  # fmt: skip

    def _gauge(self, name: str, value: float = 0, **labels: str) -> None:
        if name not in self._gauges:
            made = Gauge(f"aldebaran_{name}", "-", list(labels), registry=self.registry)
            self._gauges[name] = made
        gauge = self._gauges[name]
        (gauge.labels(**labels) if labels else gauge).set(value)


class _Pages(BaseHTTPRequestHandler):
    """Health for everybody; one tells the metrics of all."""

    protocol_version = "HTTP/1.1"
    play: Play
    tells_metrics = False

    def do_GET(self) -> None:
        """Answer like a program of ours."""
        text = b'{"status": "ok", "failures": {}}'
        if self.path == "/metrics":
            text = generate_latest(self.play.registry) if self.tells_metrics else b""
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """A reader that has gone is no news."""


@contextmanager
def playing() -> Iterator[dict[str, str]]:
    """Play all programs; give where each one is."""
    play, stop, servers = Play(), threading.Event(), []
    for part in PARTS:
        kind = type("Pages", (_Pages,), {"play": play, "tells_metrics": part == "gateway"})
        server = _Server(("127.0.0.1", 0), kind)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)

    def work() -> None:
        while not stop.wait(STEP_SECONDS):
            play.step()

    worker = threading.Thread(target=work)
    worker.start()
    yield {
        part: f"http://127.0.0.1:{server.server_port}"
        for part, server in zip(PARTS, servers, strict=True)
    }
    stop.set()
    worker.join()
    for server in servers:
        server.shutdown()
        server.server_close()
