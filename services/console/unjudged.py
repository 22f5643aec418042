"""What no watch judged: the newest rows of accounts, looked up on their topic when one asks."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from services.backbone.kafka.consumer import Incoming
from services.backbone.writing import json_text
from services.console.newest_first import (
    SHOWN_LIMIT_BYTES,
    UNREADABLE,
    NewestFirst,
    Searched,
    Wanted,
    place,
)
from services.contracts.records import Accounted, Malformed
from services.contracts.topics import ACCOUNTS


@dataclass(frozen=True, slots=True)
class UnjudgedRow:
    """One row of an account: what was appended when, and when the account listed it (`at_ms`).

    `detail` is empty but for a record that is none of ours: why, and how it begins.
    """

    place: str
    accounted_id: str
    at_ms: int
    appended_at_ms: int
    account: str
    reason: str
    key: Mapping[str, str]
    values: Mapping[str, Any]
    detail: str


@dataclass(frozen=True, slots=True)
class UnjudgedPage:
    """The newest of what accounts listed, newest first."""

    rows: tuple[UnjudgedRow, ...]
    looked: Searched
    next_cursor: str | None
    """Where older ones go on; None where there are none, or the room was used for nothing."""


@dataclass(frozen=True)
class Unjudged:
    """Reads the topic of accounts."""

    topics: NewestFirst

    def newest(self, wanted: Wanted) -> UnjudgedPage:
        """Return the newest that are wanted.

        Raises:
            Problem: 404 the topic was not made; 503 the brokers are away, or others are reading.
        """
        found = self.topics.page(ACCOUNTS, wanted, partial(fitting, contains=wanted.contains))
        return UnjudgedPage(found.rows, found.looked, found.next_cursor)


def fitting(records: Iterable[Incoming], contains: str) -> Iterator[UnjudgedRow]:
    """Yield what is shown of each record of which a text has these letters."""
    for each in records:
        row = _row(each)
        if any(contains in word for word in _words(row)):
            yield row


def _row(each: Incoming) -> UnjudgedRow:
    try:
        told = Accounted.decode(each.value)
    except Malformed as error:
        return _unreadable(each, str(error))
    return UnjudgedRow(
        place=place(each),
        accounted_id=told.accounted_id,
        at_ms=told.accounted_at_ms,
        appended_at_ms=told.appended_at_ms,
        account=told.account,
        reason=told.reason,
        key=told.key,
        values=told.values,
        detail="",
    )


def _unreadable(each: Incoming, why: str) -> UnjudgedRow:
    at_ms = max(0, each.timestamp_ms)
    beginning = each.value[:SHOWN_LIMIT_BYTES].decode(errors="replace")
    return UnjudgedRow(
        place=place(each),
        accounted_id="",
        at_ms=at_ms,
        appended_at_ms=at_ms,
        account="",
        reason=UNREADABLE,
        key={},
        values={},
        detail=f"this is no record of ours: {why}: {beginning}",
    )


def _words(row: UnjudgedRow) -> Iterator[str]:
    """Yield what is looked through: texts as they are, other values as JSON has them."""
    yield from (row.account, row.reason, row.detail, *row.key.values())
    for value in row.values.values():
        yield value if isinstance(value, str) else json_text(value)
