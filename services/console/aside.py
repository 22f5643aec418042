"""What was refused of a stream, or between programs, looked up on its topic when one asks."""

import base64
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Final, Literal

from services.backbone.clock import Clock
from services.backbone.errors import Trouble
from services.backbone.kafka.consumer import Incoming
from services.backbone.kafka.newest import Newest, NoSuchTopic, Room
from services.backbone.settings import KafkaSettings
from services.backbone.web.problems import Problem, away
from services.contracts.declarations import BadDeclaration
from services.contracts.records import Malformed, Rejected
from services.contracts.streams import load_streams
from services.contracts.topics import ALERTS, deliveries, is_shared, rejected

SHOWN_LIMIT_BYTES: Final = 8 * 1024
"""Of a longer original the beginning is shown."""
UNREADABLE: Final = "unreadable"
"""The reason shown of a record that nobody of ours has written."""


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
class Searched:
    """How many records were looked through, and whether no older one is left that may fit."""

    records: int
    whole: bool


@dataclass(frozen=True, slots=True)
class RefusedPage:
    """The newest of what was refused of a stream, or of a topic between programs; newest first."""

    stream: str
    rows: tuple[RefusedRow, ...]
    looked: Searched


@dataclass(frozen=True)
class Aside:
    """Reads the topics of what was refused, for one person at a time: originals may be large."""

    settings: KafkaSettings
    clock: Clock
    streams_dir: Path
    room: Room = field(default_factory=Room)
    _turn: Lock = field(default_factory=Lock)

    def newest(self, stream: str, limit: int, contains: str = "") -> RefusedPage:
        """Return the newest of a stream, or of a topic that programs share, that contain a text,
        at most so many.

        Raises:
            Problem: 404 no such stream, or it has no topic; 503 the brokers or streams are away.
        """
        self._check_stream(stream)
        if not self._turn.acquire(timeout=self.room.seconds):
            raise away("topics_busy", "others are reading what was refused; ask again")
        try:
            return self._page(stream, limit, contains)
        except NoSuchTopic as error:
            said = f"{error}; `python -m services.topics` makes those of streams and its channels"
            raise Problem(404, "no_such_topic", said) from None
        except Trouble as error:
            said = f"topic {rejected(stream)} cannot be read now: {error}"
            raise away("topics_away", said) from None
        finally:
            self._turn.release()

    def _check_stream(self, stream: str) -> None:
        if is_shared(stream):
            return
        try:
            known = load_streams(self.streams_dir)
        except BadDeclaration as error:
            raise away("streams_unreadable", str(error)) from None
        if stream not in known:
            there = ", ".join([*sorted(known), ALERTS, deliveries("CHANNEL")])
            said = f"no stream {stream} is declared; there are: {there}"
            raise Problem(404, "no_such_stream", said)

    def _page(self, stream: str, limit: int, contains: str) -> RefusedPage:
        with Newest(self.settings, self.clock, rejected(stream), self.room) as newest:
            found = fitting(newest.records(), contains)
            rows = tuple(islice(found, limit))
            whole = next(found, None) is None and newest.is_whole
            return RefusedPage(stream, rows, Searched(newest.looked_through, whole))


def fitting(records: Iterable[Incoming], contains: str) -> Iterator[RefusedRow]:
    """Yield what is shown of each record whose original, reason, detail or source has the text."""
    for each in records:
        told = _told(each)
        original = told.original
        words = (told.reason, told.detail, told.source)
        if contains.encode() in original or any(contains in word for word in words):
            yield _row(each, told, original)


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


def _row(each: Incoming, told: Rejected, original: bytes) -> RefusedRow:
    text, encoding = shown(original)
    return RefusedRow(
        place=f"{each.topic}/{each.partition}/{each.offset}",
        at_ms=told.rejected_at_ms,
        source=told.source,
        reason=told.reason,
        detail=told.detail,
        original=text,
        encoding=encoding,
        size_bytes=len(original),
        cut=len(original) > SHOWN_LIMIT_BYTES,
    )


def shown(original: bytes) -> tuple[str, Literal["utf-8", "base64"]]:
    """Return the beginning of an original, and how it is written.

    Text is cut before the first character that does not fit whole.
    """
    beginning = original[:SHOWN_LIMIT_BYTES]
    try:
        original.decode()
    except UnicodeDecodeError:
        return base64.b64encode(beginning).decode(), "base64"
    return beginning.decode(errors="ignore"), "utf-8"
