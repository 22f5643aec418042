"""One look at one program: its health and its metrics, in bounded time."""

import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit, urlunsplit

import httpx2

from services.backbone.clock import Clock
from services.console.parts.samples import TEXT_LIMIT_BYTES, Samples, samples

LOOK_TIMEOUT_SECONDS: Final = 1.5
INSTANCES_LIMIT: Final = 20
"""Most processes of one program that are looked at."""
TEXT_LIMIT_CHARACTERS: Final = 300


@dataclass(frozen=True, slots=True)
class Target:
    """One process: the program's name, and where its pages are."""

    part: str
    url: str


@dataclass(frozen=True, slots=True)
class Look:
    """What one look has shown; `trouble` by check is empty if the program is ready."""

    target: Target
    at_seconds: float
    trouble: Mapping[str, str]
    notes: Mapping[str, str] = field(default_factory=dict)
    found: Samples = field(default_factory=dict)

    @property
    def ready(self) -> bool:
        """Whether the program may get work."""
        return not self.trouble


def targets(parts: Mapping[str, str]) -> list[Target]:
    """Return the processes behind each address: a name may stand for several."""
    return [Target(part, each) for part, url in parts.items() for each in _instances(url)]


def _instances(url: str) -> list[str]:
    split = urlsplit(url)
    host, port = split.hostname or "", split.port or 80
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        return [url]  # looking at it says what is wrong
    addresses = sorted({str(each[4][0]) for each in found})[:INSTANCES_LIMIT]
    if len(addresses) < 2:
        return [url]
    return [urlunsplit(split._replace(netloc=f"{_spelled(each)}:{port}")) for each in addresses]


def _spelled(address: str) -> str:
    return f"[{address}]" if ":" in address else address


class Looker:
    """Looks at programs; safe to use from several threads."""

    def __init__(self, clock: Clock, transport: httpx2.BaseTransport | None = None) -> None:
        self._clock = clock
        self._client = httpx2.Client(
            timeout=LOOK_TIMEOUT_SECONDS, transport=transport, trust_env=False
        )

    def look(self, target: Target) -> Look:
        """Return how a program stands; one that does not answer has trouble."""
        at_seconds = self._clock.monotonic_seconds()
        try:
            trouble, notes = self._health(target)
            found = self._metrics(target)
        except (httpx2.HTTPError, ValueError) as error:
            return Look(target, at_seconds, {"answer": _said(error)})
        return Look(target, at_seconds, trouble, notes, found)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _health(self, target: Target) -> tuple[dict[str, str], dict[str, str]]:
        told = self._client.get(f"{target.url}/healthz/ready").json()
        if not isinstance(told, dict):
            raise ValueError("its health page is none of ours")
        return _texts(told.get("failures")), _texts(told.get("notes"))

    def _metrics(self, target: Target) -> Samples:
        answer = self._client.get(f"{target.url}/metrics")
        if len(answer.content) > TEXT_LIMIT_BYTES:
            raise ValueError("its metrics are too long")
        return samples(answer.text)


def _texts(told: object) -> dict[str, str]:
    if not isinstance(told, dict):
        return {}
    return {str(name): str(text)[:TEXT_LIMIT_CHARACTERS] for name, text in told.items()}


def _said(error: Exception) -> str:
    if isinstance(error, httpx2.TimeoutException):
        return f"no answer within {LOOK_TIMEOUT_SECONDS:g} s"
    if isinstance(error, httpx2.HTTPError):
        return "does not answer"
    return f"answers something else: {error}"[:TEXT_LIMIT_CHARACTERS]
