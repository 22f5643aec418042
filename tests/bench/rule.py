"""The shipped rule in plain Python, event by event: for engines that are not Spark."""

import json
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from services.contracts.ids import alert_id
from services.contracts.records import Alert, Severity

WATCH = "over-purchase"
EARLY_MS = 3_600_000
LIMIT_MS = 24 * 3_600_000
KEEP_MS = 2 * (EARLY_MS + LIMIT_MS)


@dataclass(slots=True)
class Book:
    """What is known of one order; `bound` is never less than what any request can be given."""

    born_ms: int
    requests: list[tuple[int, int]] = field(default_factory=list)
    purchases: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    least: int | None = None
    bound: int = 0
    client: str = ""
    stock: str = ""
    alerted: bool = False

    def take(self, event: dict[str, Any], at_ms: int) -> None:
        """Add an event."""
        shares = event["shares"]
        if event["kind"] == "request":
            self.requests.append((shares, at_ms))
            self.least = shares if self.least is None else min(self.least, shares)
            self.client, self.stock = event["client"], event["stock"]
        else:
            self.purchases.setdefault(event["event_id"], []).append((shares, at_ms))
            self.bound += shares

    def worst(self) -> tuple[int, int] | None:
        """Return (requested, purchased) of the least request that was exceeded."""
        if self.least is None or self.bound <= self.least:
            return None
        judged = [(shares, self._purchased(at_ms)) for shares, at_ms in self.requests]
        return min((each for each in judged if each[1] > each[0]), default=None)

    def _purchased(self, opened_ms: int) -> int:
        first, last = opened_ms - EARLY_MS, opened_ms + LIMIT_MS
        return sum(
            max((shares for shares, at_ms in copies if first <= at_ms <= last), default=0)
            for copies in self.purchases.values()
        )


class Books:
    """All books of some partitions; a book goes when nothing that it holds can count any more."""

    def __init__(self) -> None:
        self._books: OrderedDict[str, Book] = OrderedDict()

    def take(self, value: bytes, at_ms: int) -> Alert | None:
        """Add an event; return the alert of an order that is over-purchased since now."""
        event = json.loads(value)
        self._forget_until(at_ms - KEEP_MS)
        order = event["order_id"]
        book = self._books.get(order)
        if book is None:
            book = self._books[order] = Book(at_ms)
        book.take(event, at_ms)
        found = None if book.alerted else book.worst()
        if found is None:
            return None
        book.alerted = True
        return _alert(order, book, *found, at_ms)

    def _forget_until(self, born_ms: int) -> None:
        while self._books:
            order, oldest = next(iter(self._books.items()))
            if oldest.born_ms >= born_ms:
                return
            del self._books[order]


def alert_of(value: bytes, at_ms: int) -> Alert:
    """Return the alert of an event by itself, whatever its order's book says."""
    event = json.loads(value)
    return _alert(event["order_id"], Book(at_ms), 0, event["shares"], at_ms)


def _alert(order: str, book: Book, requested: int, purchased: int, at_ms: int) -> Alert:
    return Alert(
        alert_id=alert_id(WATCH, [order]),
        watch=WATCH,
        severity=Severity.CRITICAL,
        summary=f"Order {order}: {purchased} purchased, {requested} requested",
        key={"order_id": order},
        labels={"client": book.client, "stock": book.stock},
        values={"requested": requested, "purchased": purchased},
        event_ids=list(book.purchases),
        appended_at_ms=at_ms,
        detected_at_ms=at_ms,
        auditor="plain",
    )
