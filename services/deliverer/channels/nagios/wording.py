"""What Nagios is told: host, service, state and text, escaped so that one result stays one."""

import re
from dataclasses import dataclass
from typing import Final, Literal

from services.contracts.records import Severity
from services.deliverer.channel import Message

InfoState = Literal[0, 1, 3]
TEXT_LIMIT_BYTES: Final = 8000
"""Nagios keeps at most 8192 bytes of a plugin's output."""
HOST_DOWN: Final = 1

_CONTROL: Final = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]+")
_LINE_END: Final = re.compile(r"\r\n?|\n")
_STATES: Final = {Severity.CRITICAL: 2, Severity.WARNING: 1}


@dataclass(frozen=True, slots=True)
class Place:
    """A service on a host, or the host itself."""

    host: str
    service: str | None = None

    @classmethod
    def of(cls, recipient: str) -> "Place":
        """Read `host/service`, or `host`; a service's name may have slashes."""
        host, slash, service = recipient.partition("/")
        return cls(host, service if slash else None)

    def __str__(self) -> str:
        """The recipient it was read from."""
        return self.host if self.service is None else f"{self.host}/{self.service}"


@dataclass(frozen=True, slots=True)
class Result:
    """One passive check result."""

    place: Place
    state: int
    text: str
    """Escaped: one line, newlines as backslash and n."""
    at_seconds: int


def result(message: Message, info_state: InfoState, at_ms: int, limit_bytes: int) -> Result:
    """Return the result that tells of a message.

    A host knows only up and down, so every alert for a host says that it is down.
    """
    place = Place.of(message.delivery.recipient)
    state = _STATES.get(message.delivery.alert.severity, info_state)
    told = HOST_DOWN if place.service is None else state
    return Result(place, told, text(message, limit_bytes), at_ms // 1000)


def text(message: Message, limit_bytes: int = TEXT_LIMIT_BYTES) -> str:
    """Return the escaped output; its first line, which alone is logged, ends with our id.

    A bar would begin performance data, so it becomes a slash. What is too long is cut at its end.
    """
    delivery = message.worded
    severity = delivery.alert.severity.value.upper()
    first = f"{severity}: {_one_line(delivery.subject)} {mark(delivery.delivery_id)}"
    whole = first + "\n" + _LINE_END.sub("\n", delivery.text)
    plain = _CONTROL.sub(" ", whole).replace("|", "/")
    return cut(plain.replace("\\", "\\\\").replace("\n", "\\n"), limit_bytes)


def mark(delivery_id: str) -> str:
    """Return how the id stands in a text."""
    return f"[delivery {delivery_id}]"


def cut(escaped: str, limit_bytes: int) -> str:
    """Shorten an escaped text to so many UTF-8 bytes, never in the middle of a character or escape.

    Nagios reads a backslash with what follows it, so an even number of them must end the text.
    """
    if len(escaped.encode()) <= limit_bytes:
        return escaped
    short = escaped.encode()[:limit_bytes].decode(errors="ignore")
    backslashes = len(short) - len(short.rstrip("\\"))
    return short[: len(short) - backslashes % 2]


def _one_line(words: str) -> str:
    return " ".join(words.split())
