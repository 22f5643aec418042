"""What asks a page from inside its pod reaches it, whatever proxy the cluster tells pods of."""

import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from tests.chart.rendering import needs_helm, pods, rendered

pytestmark = needs_helm


class _Pages(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/healthz/live" else 503)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


def probes() -> dict[str, str]:
    """Return the program of each probe that runs in a pod without a page for others."""
    (container,) = pods(rendered())["t-aldebaran-console"]["containers"]
    return {
        name: each["exec"]["command"][-1]
        for name, each in container.items()
        if name.endswith("Probe")
    }


@pytest.mark.parametrize(
    ("probe", "is_well"),
    [("startupProbe", True), ("livenessProbe", True), ("readinessProbe", False)],
)
def test_a_page_is_asked_directly(probe: str, is_well: bool) -> None:
    with HTTPServer(("127.0.0.1", 0), _Pages) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        program = probes()[probe].replace(":8080/", f":{server.server_port}/")
        proxied = os.environ | {"http_proxy": "http://127.0.0.1:9", "no_proxy": ".svc"}
        made = subprocess.run(
            [sys.executable, "-c", program], env=proxied, check=False, capture_output=True
        )
    assert (made.returncode == 0) == is_well, made.stderr
