"""One look at one program: its health and its metrics, in bounded time."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import httpx2

from services.backbone.clock import Clock
from services.console.parts.samples import TEXT_LIMIT_BYTES, Samples, samples

LOOK_TIMEOUT_SECONDS: Final = 1.5
TEXT_LIMIT_CHARACTERS: Final = 300


@dataclass(frozen=True, slots=True)
class Target:
    """One process: the program's name, where its pages are by address, and by which name it is
    spoken to; without a name its address is not known.
    """

    part: str
    url: str
    host: str = ""


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
        if not target.host:  # looking would ask name servers, for as long as they are silent
            return Look(target, at_seconds, {"answer": "its name leads to no address now"})
        try:
            trouble, notes = self._health(target)
            found = self._metrics(target)
        except (httpx2.HTTPError, ValueError) as error:
            return Look(target, at_seconds, {"answer": _said(error)})
        return Look(target, at_seconds, trouble, notes, found)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _get(self, target: Target, path: str) -> httpx2.Response:
        return self._client.get(target.url + path, headers={"Host": target.host})

    def _health(self, target: Target) -> tuple[dict[str, str], dict[str, str]]:
        told = self._get(target, "/healthz/ready").json()
        if not isinstance(told, dict):
            raise ValueError("its health page is none of ours")
        return _texts(told.get("failures")), _texts(told.get("notes"))

    def _metrics(self, target: Target) -> Samples:
        answer = self._get(target, "/metrics")
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
