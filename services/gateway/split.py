"""From a body to its events: where one ends and the next begins."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, Protocol

import orjson

from services.contracts.events import Event, EventReader, Invalid
from services.gateway.media import Form
from services.gateway.scan import elements

Verdict = Event | Invalid
"""What the declared stream says about one event."""


class Parts(Protocol):
    """The events of one body, counted from 0."""

    def __len__(self) -> int:
        """Return how many there are."""

    def read(self, index: int, reader: EventReader) -> Verdict:
        """Judge one."""

    def originals(self, indexes: Sequence[int]) -> list[bytes]:
        """Return the bytes of some, exactly as they were sent; indexes are ascending."""


@dataclass(frozen=True, slots=True)
class Lines:
    """One event per line."""

    lines: Sequence[bytes]

    def __len__(self) -> int:
        return len(self.lines)

    def read(self, index: int, reader: EventReader) -> Verdict:
        """Judge one."""
        return reader.read(self.lines[index])

    def originals(self, indexes: Sequence[int]) -> list[bytes]:
        """Return the bytes of some."""
        return [self.lines[index] for index in indexes]


@dataclass(frozen=True, slots=True)
class Elements:
    """The elements of one JSON array."""

    array: bytes
    values: Sequence[Any]

    def __len__(self) -> int:
        return len(self.values)

    def read(self, index: int, reader: EventReader) -> Verdict:
        """Judge one."""
        return reader.take(self.values[index])

    def originals(self, indexes: Sequence[int]) -> list[bytes]:
        """Return the bytes of some; only then is the array read a second time."""
        wanted = frozenset(indexes)
        chosen = (index in wanted for index in range(len(self.values)))
        return list(compress(elements(self.array), chosen)) if wanted else []


@dataclass(frozen=True, slots=True)
class Single:
    """A body that is one event."""

    body: bytes
    value: Any

    def __len__(self) -> int:
        return 1

    def read(self, index: int, reader: EventReader) -> Verdict:
        """Judge it."""
        return reader.take(self.value)

    def originals(self, indexes: Sequence[int]) -> list[bytes]:
        """Return the body for each index."""
        return [self.body for _ in indexes]


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A body in which no event can be found; it counts as one that is not valid."""

    body: bytes
    why: Invalid

    def __len__(self) -> int:
        return 1

    def read(self, index: int, reader: EventReader) -> Verdict:
        """Say why it cannot be read."""
        return self.why

    def originals(self, indexes: Sequence[int]) -> list[bytes]:
        """Return the body for each index."""
        return [self.body for _ in indexes]


def split(body: bytes, form: Form) -> Parts:
    """Find the events of a decompressed body; an empty body, array or set of lines has none."""
    if form is Form.LINES or not body.strip():
        return Lines(_lines(body))
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        return _lines_after_all(body) or Unreadable(body, Invalid("not_json", str(error)))
    return Elements(body, value) if isinstance(value, list) else Single(body, value)


def _lines(body: bytes) -> list[bytes]:
    return [line for line in body.split(b"\n") if line.strip()]


def _lines_after_all(body: bytes) -> Lines | None:
    """Take several lines for one event each if the first is an object by itself."""
    first, _, rest = body.lstrip().partition(b"\n")
    if not rest.strip():
        return None
    try:
        return Lines(_lines(body)) if isinstance(orjson.loads(first), dict) else None
    except orjson.JSONDecodeError:
        return None
