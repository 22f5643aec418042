"""Real Ivy against a mirror on this machine: what comes is verified, what fails is tried again."""

import hashlib
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from services.machine.installation.ivy import IvyFetch, find_ivy_jar
from services.machine.installation.jars import Jar, install
from services.machine.installation.setup import required_java
from services.machine.problems import MachineProblem

CONTENT = b"a library"
PATH = "/org/example/thing/1.0/thing-1.0.jar"


class Mirror(ThreadingHTTPServer):
    """A Maven repository with one jar; its first `broken` answers are errors."""

    def __init__(self, content: bytes, broken: int = 0) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.content = content
        self.broken = broken
        self.asked: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/"


class Answer(BaseHTTPRequestHandler):
    server: Mirror

    def do_HEAD(self) -> None:
        self.answer(with_body=False)

    def do_GET(self) -> None:
        self.answer(with_body=True)

    def answer(self, *, with_body: bool) -> None:
        self.server.asked.append(self.path)
        if self.path != PATH:
            self.send_error(404)
        elif self.server.broken > 0:
            self.server.broken -= 1
            self.send_error(503)
        else:
            self.send_response(200)
            self.send_header("Content-Length", str(len(self.server.content)))
            self.end_headers()
            if with_body:
                self.wfile.write(self.server.content)

    def log_message(self, format: str, *args: object) -> None:
        """Stay silent."""


@pytest.fixture
def mirror() -> Iterator[Mirror]:
    with Mirror(CONTENT) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def fetch_from(mirror: Mirror, *, proxy: str = "") -> IvyFetch:
    told = {"ALDEBARAN_MAVEN_MIRROR": mirror.url, "HTTPS_PROXY": proxy}
    return IvyFetch(required_java(os.environ), find_ivy_jar(), told, Path("/no/settings.xml"))


def jar(content: bytes) -> Jar:
    return Jar("org.example", "thing", "1.0", hashlib.sha256(content).hexdigest())


def test_a_jar_comes_from_the_mirror(tmp_path: Path, mirror: Mirror) -> None:
    assert install(tmp_path / "set", [jar(CONTENT)], fetch_from(mirror)) == 1
    assert (tmp_path / "set" / "thing-1.0.jar").read_bytes() == CONTENT
    assert [path.name for path in tmp_path.iterdir()] == ["set"]


def test_a_proxy_that_will_not_do_is_told_only_when_something_is_missing(
    tmp_path: Path, mirror: Mirror
) -> None:
    install(tmp_path / "set", [jar(CONTENT)], fetch_from(mirror))
    unfit = fetch_from(mirror, proxy="socks5://proxy.example")
    assert install(tmp_path / "set", [jar(CONTENT)], unfit) == 0
    with pytest.raises(MachineProblem, match="HTTPS_PROXY names none"):
        install(tmp_path / "set", [jar(b"another")], unfit)


def test_a_failing_mirror_is_asked_again(tmp_path: Path, mirror: Mirror) -> None:
    mirror.broken = 1
    assert install(tmp_path / "set", [jar(CONTENT)], fetch_from(mirror)) == 1


def test_another_file_than_expected_is_refused(tmp_path: Path, mirror: Mirror) -> None:
    with pytest.raises(MachineProblem, match="has checksum"):
        install(tmp_path / "set", [jar(b"expected")], fetch_from(mirror))
    assert list((tmp_path / "set").iterdir()) == []


def test_what_no_repository_has_is_said_with_ivys_words(tmp_path: Path, mirror: Mirror) -> None:
    absent = Jar("org.example", "absent", "2.0", "0" * 64)
    with pytest.raises(MachineProblem, match="failed 3 times") as raised:
        install(tmp_path / "set", [absent], fetch_from(mirror))
    assert "absent" in str(raised.value)
    assert "HTTPS_PROXY" in str(raised.value)
