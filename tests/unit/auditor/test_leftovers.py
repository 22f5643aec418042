"""Pods are asked away by label, and nothing else is: executors left behind, drivers of before."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from engine import leftovers, outdated
from engine.pods import AT_ONCE, DRAINED, remove
from services.backbone.clock import ManualClock

SELECTOR = "spark-role=executor,aldebaran/auditor=a"


class ApiServer(BaseHTTPRequestHandler):
    """Answers as Kubernetes does, and keeps what it was asked."""

    asked: ClassVar[list[tuple[str, str, str]]] = []

    def do_DELETE(self) -> None:
        """Take note; two pods were there."""
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.asked.append((self.path, self.headers["Authorization"], body))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"items": [{}, {}]}).encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Stranger(ApiServer):
    """Answers with something that is no HTTP."""

    def do_DELETE(self) -> None:
        """Say something else."""
        self.wfile.write(b"220 mail.example ready\r\n")


@pytest.fixture
def api() -> Iterator[str]:
    yield from served(ApiServer)


@pytest.fixture
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for address in served(Stranger):
        for program in (leftovers, outdated):
            monkeypatch.setattr(program, "API", address)
            monkeypatch.setattr(program, "ACCOUNT", account(tmp_path))
        yield


def served(handler: type[ApiServer]) -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def account(folder: Path) -> Path:
    """Write an account as Kubernetes mounts it."""
    (folder / "namespace").write_text("here\n", "utf-8")
    (folder / "token").write_text("secret", "utf-8")
    return folder


def test_pods_of_the_selector_end_at_once(api: str, tmp_path: Path) -> None:
    assert remove(api, account(tmp_path), SELECTOR, AT_ONCE) == 2
    path, authorization, body = ApiServer.asked[-1]
    selected = "spark-role%3Dexecutor%2Caldebaran/auditor%3Da"
    assert path == f"/api/v1/namespaces/here/pods?labelSelector={selected}"
    assert authorization == "Bearer secret"
    assert json.loads(body) == {"gracePeriodSeconds": 0}


def test_a_proxy_that_the_cluster_names_is_not_asked_for_pods(
    api: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", ".svc")
    monkeypatch.setattr("urllib.request._opener", None)
    assert remove(api, account(tmp_path), SELECTOR, AT_ONCE) == 2


def test_drivers_are_given_their_time_to_end(api: str, tmp_path: Path) -> None:
    assert remove(api, account(tmp_path), SELECTOR, DRAINED) == 2
    assert json.loads(ApiServer.asked[-1][2]) == {}


def test_drivers_of_before_are_ended_until_there_are_none() -> None:
    there = {"a": [1, 1, 0, 0], "b": [1, 1, 1, 0]}
    clock = ManualClock()
    begun = clock.monotonic_seconds()
    assert outdated.end(["a", "b"], lambda each: there[each].pop(0), clock) == 2
    assert clock.monotonic_seconds() - begun == 3 * outdated.ASK_EVERY_SECONDS
    assert there == {"a": [], "b": []}


def test_fails_where_nothing_can_be_asked(capsys: pytest.CaptureFixture[str]) -> None:
    assert outdated.main([SELECTOR]) == 1
    assert "not ended" in capsys.readouterr().err


def test_a_start_goes_on_where_nothing_can_be_asked(capsys: pytest.CaptureFixture[str]) -> None:
    assert leftovers.main([SELECTOR]) == 0
    assert "not removed" in capsys.readouterr().err


@pytest.mark.usefixtures("stranger")
def test_fails_where_no_api_server_answers(capsys: pytest.CaptureFixture[str]) -> None:
    assert outdated.main([SELECTOR]) == 1
    assert "not ended" in capsys.readouterr().err


@pytest.mark.usefixtures("stranger")
def test_a_start_goes_on_where_no_api_server_answers(capsys: pytest.CaptureFixture[str]) -> None:
    assert leftovers.main([SELECTOR]) == 0
    assert "not removed" in capsys.readouterr().err
