"""How one sees from outside that a program is ready to serve."""

import http.client
import json
import math
import socket
import struct
from dataclasses import dataclass
from typing import Protocol

from services.backbone.health import START

ANSWER_TIMEOUT_SECONDS = 2.0
ANSWER_LIMIT_BYTES = 64 * 1024
SAID_CHARACTERS = 1000
API_VERSIONS_KEY = 18
POSTGRES_PROTOCOL = 3 << 16


class Readiness(Protocol):
    """Asks once whether a program serves; an unreachable one is simply not ready."""

    def is_ready(self) -> bool:
        """Return whether the program answered as a serving one does."""


@dataclass(frozen=True)
class HttpReadiness:
    """Ready when GET `path` on 127.0.0.1:`port` answers 200."""

    port: int
    path: str = "/healthz/ready"

    def is_ready(self) -> bool:
        """Ask once over HTTP."""
        answer = _page(self.port, self.path)
        return answer is not None and answer.status == http.HTTPStatus.OK


class Work(Protocol):
    """Asks a program that is not ready whether it does its work as far as it can."""

    def lacks(self) -> str | None:
        """Return what keeps it from being ready; None where it has not begun, or says nothing."""


@dataclass(frozen=True)
class HttpWork:
    """Asks a program's own page on 127.0.0.1:`port`, which names what fails."""

    port: int
    path: str = "/healthz/ready"

    def lacks(self) -> str | None:
        """Ask once over HTTP."""
        answer = _page(self.port, self.path)
        if answer is None or answer.status != http.HTTPStatus.SERVICE_UNAVAILABLE:
            return None
        failures = answer.failures()
        said = "; ".join(f"{name}: {why}" for name, why in failures.items())
        return said[:SAID_CHARACTERS] if failures and START not in failures else None


@dataclass(frozen=True)
class Look:
    """What one look at a program found: what is wrong, if only its end can mend that; or silence,
    which may be a busy machine's, and which a hung program never ends."""

    dead: str | None = None
    is_silent: bool = False


class Liveness(Protocol):
    """Looks whether a program must be ended: it has said so `looks_limit` times in a row then, or
    has been silent in each look of `silence_limit_seconds`."""

    @property
    def every_seconds(self) -> float:
        """How long from look to look."""

    @property
    def looks_limit(self) -> int:
        """How many looks must come to the same."""

    @property
    def grace_seconds(self) -> float:
        """How long what is dead may take to end by itself when asked, if that is less than what
        the program may take anyway."""

    @property
    def silence_limit_seconds(self) -> float:
        """How long it may be silent."""

    def look(self) -> Look:
        """Look once."""


@dataclass(frozen=True)
class HttpLiveness:
    """Asks a program on 127.0.0.1:`port` whether only a restart can heal it."""

    port: int
    path: str = "/healthz/live"
    every_seconds: float = 5.0
    looks_limit: int = 3
    grace_seconds: float = math.inf
    silence_limit_seconds: float = 60.0
    """A busy machine answers late, but not for so long."""

    def look(self) -> Look:
        """Ask once over HTTP."""
        answer = _page(self.port, self.path)
        if answer is None:
            return Look(is_silent=True)
        if answer.status != http.HTTPStatus.SERVICE_UNAVAILABLE:
            return Look()
        return Look(answer.text[:SAID_CHARACTERS])


@dataclass(frozen=True)
class KafkaReadiness:
    """Ready when the broker answers which requests it knows, which it does only once it serves."""

    host: str
    port: int

    def is_ready(self) -> bool:
        """Send one ApiVersions request."""
        body = struct.pack(">hhih", API_VERSIONS_KEY, 0, 1, -1)
        return _answers(self.host, self.port, struct.pack(">i", len(body)) + body) != b""


@dataclass(frozen=True)
class PostgresReadiness:
    """Ready when the server asks for a password instead of saying that it is starting."""

    host: str
    port: int

    def is_ready(self) -> bool:
        """Send one start-up message."""
        body = struct.pack(">i", POSTGRES_PROTOCOL) + b"user\0postgres\0database\0postgres\0\0"
        return _answers(self.host, self.port, struct.pack(">i", len(body) + 4) + body) == b"R"


@dataclass(frozen=True)
class TcpReadiness:
    """Ready when 127.0.0.1:`port` accepts a connection."""

    port: int

    def is_ready(self) -> bool:
        """Connect once."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), ANSWER_TIMEOUT_SECONDS):
                return True
        except OSError:
            return False


@dataclass(frozen=True)
class _Page:
    status: int
    text: str

    def failures(self) -> dict[str, str]:
        """Return what fails, by check, as programs of ours say it; nothing of another page."""
        try:
            failures = json.loads(self.text)["failures"]
        except (ValueError, TypeError, KeyError):
            return {}
        return failures if isinstance(failures, dict) else {}


def _page(port: int, path: str) -> _Page | None:
    """Ask 127.0.0.1:`port` once; None where no whole answer comes in time."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWER_TIMEOUT_SECONDS)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        text = answer.read(ANSWER_LIMIT_BYTES).decode(errors="replace")
        return _Page(answer.status, text)
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


def _answers(host: str, port: int, request: bytes) -> bytes:
    """Return the first byte of the answer, empty where there is none in time."""
    try:
        with socket.create_connection((host, port), ANSWER_TIMEOUT_SECONDS) as connection:
            connection.sendall(request)
            return connection.recv(1024)[:1]
    except OSError:
        return b""
