"""What was refused of a stream, or between programs, looked up on its topic when one asks."""

import base64
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from threading import BoundedSemaphore, Lock
from typing import Final, Literal

from services.backbone.clock import Clock
from services.backbone.errors import Trouble
from services.backbone.kafka.consumer import Incoming
from services.backbone.kafka.newest import FROM_THE_END, Newest, NoSuchTopic, Room
from services.backbone.ledger.page_start import NO_CURSOR
from services.backbone.settings import KafkaSettings
from services.backbone.web.problems import Problem, away
from services.contracts.declarations import AS_IT_RAN, BadDeclaration
from services.contracts.events import EVENT_LIMIT_BYTES
from services.contracts.records import Malformed, Rejected
from services.contracts.streams import load_streams
from services.contracts.topics import ALERTS, deliveries, is_shared, rejected

SHOWN_LIMIT_BYTES: Final = 8 * 1024
"""Of a longer original the beginning is shown."""
WHOLE_LIMIT_BYTES: Final = EVENT_LIMIT_BYTES
"""The same where originals are wanted whole: what is longer is no event whatever is mended."""
UNREADABLE: Final = "unreadable"
"""The reason shown of a record that nobody of ours has written."""
WAITING_AT_ONCE: Final = 2
"""So many wait for their turn; each keeps one of the threads that serve everything else too."""
_CURSOR: Final = re.compile(r"[0-9]{1,9}-[0-9]{1,19}(\.[0-9]{1,9}-[0-9]{1,19})*")

Before = Mapping[int, int]
"""By partition, the offset before which older records stand; one that is not in it: all of it."""


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
    next_cursor: str | None
    """Where older ones go on; None where there are none, or the room was used for nothing."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """At most so many that contain a text, from before a place on; originals up to so long."""

    limit: int
    contains: str = ""
    before: Before = field(default_factory=dict)
    shown_bytes: int = SHOWN_LIMIT_BYTES


@dataclass(frozen=True)
class Aside:
    """Reads the topics of what was refused, for one person at a time: originals may be large."""

    settings: KafkaSettings
    clock: Clock
    streams_dir: Path
    room: Room = field(default_factory=Room)
    _turn: Lock = field(default_factory=Lock)
    _waiting: BoundedSemaphore = field(default_factory=lambda: BoundedSemaphore(WAITING_AT_ONCE))

    def newest(self, stream: str, wanted: Wanted) -> RefusedPage:
        """Return the newest that are wanted of a stream, or of a topic that programs share.

        Raises:
            Problem: 404 no such stream, or it has no topic; 503 the brokers or streams are away.
        """
        self._check_stream(stream)
        try:
            with self._in_turn():
                return self._page(stream, wanted)
        except NoSuchTopic as error:
            said = f"{error}; `python -m services.topics` makes those of streams and its channels"
            raise Problem(404, "no_such_topic", said) from None
        except Trouble as error:
            said = f"topic {rejected(stream)} cannot be read now: {error}"
            raise away("topics_away", said) from None

    @contextmanager
    def _in_turn(self) -> Iterator[None]:
        busy = away("topics_busy", "others are reading what was refused; ask again")
        if not self._waiting.acquire(blocking=False):
            raise busy
        try:
            has_turn = self._turn.acquire(timeout=self.room.seconds)
        finally:
            self._waiting.release()
        if not has_turn:
            raise busy
        try:
            yield
        finally:
            self._turn.release()

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

    def _page(self, stream: str, wanted: Wanted) -> RefusedPage:
        topic, reached = rejected(stream), dict(wanted.before)
        with Newest(self.settings, self.clock, topic, self.room, wanted.before) as newest:
            found = fitting(_noted(newest.records(), reached), wanted.contains, wanted.shown_bytes)
            rows = tuple(islice(found, wanted.limit))
            cursor = cursor_text(reached) if reached != wanted.before else None
            whole = next(found, None) is None and newest.is_whole
            looked = Searched(newest.looked_through, whole)
            return RefusedPage(stream, rows, looked, None if whole else cursor)


def _noted(records: Iterable[Incoming], reached: dict[int, int]) -> Iterator[Incoming]:
    """Yield records, and note of each partition how far they came."""
    for each in records:
        reached[each.partition] = each.offset
        yield each


def cursor_text(before: Before) -> str:
    """Return a place as a client is given it."""
    return ".".join(f"{partition}-{offset}" for partition, offset in sorted(before.items()))


def read_cursor(text: str | None) -> Before:
    """Return the place to go on from.

    Raises:
        Problem: it is no cursor of ours.
    """
    if not text:
        return FROM_THE_END
    if not _CURSOR.fullmatch(text):
        raise Problem(422, "bad_cursor", NO_CURSOR)
    places = (each.split("-") for each in text.split("."))
    return {int(partition): int(offset) for partition, offset in places}


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
        place=f"{each.topic}/{each.partition}/{each.offset}",
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
