"""The newest records of a topic, page by page, read for one person at a time."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from threading import BoundedSemaphore, Lock
from typing import Final, Generic, TypeVar

from services.backbone.clock import Clock
from services.backbone.errors import Trouble
from services.backbone.kafka.consumer import Incoming
from services.backbone.kafka.newest import FROM_THE_END, Newest, NoSuchTopic, Room
from services.backbone.ledger.page_start import NO_CURSOR
from services.backbone.settings import KafkaSettings
from services.backbone.web.problems import Problem, away

UNREADABLE: Final = "unreadable"
"""The reason shown of a record that nobody of ours has written."""
SHOWN_LIMIT_BYTES: Final = 8 * 1024
"""Of what is longer, and not ours, the beginning is shown."""
WAITING_AT_ONCE: Final = 2
"""So many wait for their turn; each keeps one of the threads that serve everything else too."""
_CURSOR: Final = re.compile(r"[0-9]{1,9}-[0-9]{1,19}(\.[0-9]{1,9}-[0-9]{1,19})*")

Row = TypeVar("Row")
Fitting = Callable[[Iterable[Incoming]], Iterator[Row]]
"""What is shown of the records that are wanted, in their order."""
Before = Mapping[int, int]
"""By partition, the offset before which older records stand; one that is not in it: all of it."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """At most so many that contain a text, from before a place on."""

    limit: int
    contains: str = ""
    before: Before = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Searched:
    """How many records were looked through, and whether no older one is left that may fit."""

    records: int
    whole: bool


@dataclass(frozen=True, slots=True)
class Found(Generic[Row]):
    """The newest that fit, newest first."""

    rows: tuple[Row, ...]
    looked: Searched
    next_cursor: str | None
    """Where older ones go on; None where there are none, or the room was used for nothing."""


@dataclass(frozen=True)
class NewestFirst:
    """Reads topics backwards, for one person at a time: records may be large."""

    settings: KafkaSettings
    clock: Clock
    room: Room = field(default_factory=Room)
    _turn: Lock = field(default_factory=Lock)
    _waiting: BoundedSemaphore = field(default_factory=lambda: BoundedSemaphore(WAITING_AT_ONCE))

    def page(self, topic: str, wanted: Wanted, fitting: Fitting[Row]) -> Found[Row]:
        """Return the newest of a topic that fit, at most as many as are wanted.

        Raises:
            Problem: 404 there is no such topic; 503 it cannot be read now, or others are reading.
        """
        try:
            with self._in_turn():
                return self._page(topic, wanted, fitting)
        except NoSuchTopic as error:
            said = f"{error}; `python -m services.topics` makes Aldebaran's own, those of streams"
            raise Problem(404, "no_such_topic", f"{said} and those of its channels") from None
        except Trouble as error:
            raise away("topics_away", f"topic {topic} cannot be read now: {error}") from None

    @contextmanager
    def _in_turn(self) -> Iterator[None]:
        busy = away("topics_busy", "others are reading the topics now; ask again")
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

    def _page(self, topic: str, wanted: Wanted, fitting: Fitting[Row]) -> Found[Row]:
        reached = dict(wanted.before)
        with Newest(self.settings, self.clock, topic, self.room, wanted.before) as newest:
            fit = fitting(_noted(newest.records(), reached))
            rows = tuple(islice(fit, wanted.limit))
            cursor = cursor_text(reached) if reached != wanted.before else None
            whole = next(fit, None) is None and newest.is_whole
            looked = Searched(newest.looked_through, whole)
            return Found(rows, looked, None if whole else cursor)


def _noted(records: Iterable[Incoming], reached: dict[int, int]) -> Iterator[Incoming]:
    """Yield records, and note of each partition how far they came."""
    for each in records:
        reached[each.partition] = each.offset
        yield each


def place(each: Incoming) -> str:
    """Return where a record stands, as people are told it."""
    return f"{each.topic}/{each.partition}/{each.offset}"


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
