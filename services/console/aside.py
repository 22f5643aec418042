"""What was refused of a stream, or between programs, looked up on its topic when one asks."""

import base64
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, Literal

from services.backbone.kafka.consumer import Incoming
from services.backbone.web.problems import Problem, away
from services.console.newest_first import (
    SHOWN_LIMIT_BYTES,
    UNREADABLE,
    NewestFirst,
    Searched,
    Wanted,
    place,
)
from services.contracts.declarations import AS_IT_RAN, BadDeclaration
from services.contracts.events import EVENT_LIMIT_BYTES
from services.contracts.records import Malformed, Rejected
from services.contracts.streams import load_streams
from services.contracts.topics import ALERTS, deliveries, is_shared, rejected

WHOLE_LIMIT_BYTES: Final = EVENT_LIMIT_BYTES
"""How long a beginning is shown where originals are wanted whole: what is longer is no event."""


@dataclass(frozen=True, slots=True)
class RefusedRow:
    """One refused input. `original` is text where all of it is UTF-8, else base64; it is `cut`
    where it is only the beginning of `size_bytes`.
    """

    place: str
    at_ms: int
    source: str
    reason: str
    detail: str
    original: str
    encoding: Literal["utf-8", "base64"]
    size_bytes: int
    cut: bool


@dataclass(frozen=True, slots=True)
class RefusedPage:
    """The newest of what was refused of a stream, or of a topic between programs; newest first."""

    stream: str
    rows: tuple[RefusedRow, ...]
    looked: Searched
    next_cursor: str | None
    """Where older ones go on; None where there are none, or the room was used for nothing."""


@dataclass(frozen=True)
class Aside:
    """Reads the topics of what was refused."""

    topics: NewestFirst
    streams_dir: Path

    def newest(
        self, stream: str, wanted: Wanted, shown_bytes: int = SHOWN_LIMIT_BYTES
    ) -> RefusedPage:
        """Return the newest that are wanted of a stream, or of a topic that programs share.

        Raises:
            Problem: 404 no such stream, or it has no topic; 503 the brokers or streams are away.
        """
        self._check_stream(stream)
        rows_of = partial(fitting, contains=wanted.contains, shown_bytes=shown_bytes)
        found = self.topics.page(rejected(stream), wanted, rows_of)
        return RefusedPage(stream, found.rows, found.looked, found.next_cursor)

    def _check_stream(self, stream: str) -> None:
        if is_shared(stream):
            return
        try:
            known = load_streams(self.streams_dir, AS_IT_RAN)
        except BadDeclaration as error:
            raise away("streams_unreadable", str(error)) from None
        if stream not in known:
            there = ", ".join([*sorted(known), ALERTS, deliveries("CHANNEL")])
            said = f"no stream {stream} is declared; there are: {there}"
            raise Problem(404, "no_such_stream", said)


def fitting(
    records: Iterable[Incoming], contains: str, shown_bytes: int = SHOWN_LIMIT_BYTES
) -> Iterator[RefusedRow]:
    """Yield what is shown of each record whose original, reason, detail or source has the text."""
    for each in records:
        told = _told(each)
        original = told.original
        words = (told.reason, told.detail, told.source)
        if contains.encode() in original or any(contains in word for word in words):
            yield _row(each, told, original, shown_bytes)


def _told(each: Incoming) -> Rejected:
    """Return a record of ours; what nobody of ours has written is shown as it stands."""
    try:
        told = Rejected.decode(each.value)
        _ = told.original
    except (Malformed, ValueError) as error:
        return Rejected.of(
            topic=each.topic,
            source="",
            reason=UNREADABLE,
            detail=f"this is no record of ours: {error}",
            original=each.value,
            at_ms=max(0, each.timestamp_ms),
        )
    return told


def _row(each: Incoming, told: Rejected, original: bytes, shown_bytes: int) -> RefusedRow:
    text, encoding = shown(original, shown_bytes)
    return RefusedRow(
        place=place(each),
        at_ms=told.rejected_at_ms,
        source=told.source,
        reason=told.reason,
        detail=told.detail,
        original=text,
        encoding=encoding,
        size_bytes=len(original),
        cut=len(original) > shown_bytes,
    )


def shown(
    original: bytes, shown_bytes: int = SHOWN_LIMIT_BYTES
) -> tuple[str, Literal["utf-8", "base64"]]:
    """Return the beginning of an original, and how it is written.

    Text is cut before the first character that does not fit whole.
    """
    beginning = original[:shown_bytes]
    try:
        original.decode()
    except UnicodeDecodeError:
        return base64.b64encode(beginning).decode(), "base64"
    return beginning.decode(errors="ignore"), "utf-8"
