"""Counts what was sent and answered, and knows which orders must alert because of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from services.simulator.history import Kind, Message


class Outcome(IntEnum):
    """What became of a message."""

    ACCEPTED = 0
    REJECTED = 1
    UNKNOWN = 2


@dataclass(slots=True)
class Book:
    """One order as far as its events are settled."""

    open_parts: int
    requested: int | None = None
    bought: int = 0
    doubtful: bool = False

    @property
    def over(self) -> bool:
        """Tell whether more was bought than requested, both as accepted so far."""
        return self.requested is not None and self.bought > self.requested


@dataclass
class Tally:
    """The run's counts, kept exact for every message; only lists of ids are bounded."""

    ids_limit: int
    sent: list[int] = field(default_factory=lambda: [0] * len(Kind))
    outcomes: list[list[int]] = field(default_factory=lambda: [[0] * len(Kind) for _ in Outcome])
    expected_alerts: int = 0
    expected_order_ids: list[str] = field(default_factory=list)
    doubtful_order_ids: list[str] = field(default_factory=list)
    _books: dict[str, Book] = field(default_factory=dict)

    def start(self, batch: Sequence[Message]) -> None:
        """Count messages as sent."""
        for message in batch:
            self.sent[message.kind] += 1

    def settle(self, message: Message, outcome: Outcome) -> None:
        """Count a message's one final outcome."""
        kind = message.kind
        self.outcomes[outcome][kind] += 1
        if kind > Kind.PURCHASE:
            return
        book = self._books.get(message.key)
        if book is None:
            book = self._books[message.key] = Book(message.parts)
        book.open_parts -= 1
        if outcome is Outcome.UNKNOWN:
            book.doubtful = True
        elif outcome is Outcome.ACCEPTED:
            if kind is Kind.REQUEST:
                book.requested = message.shares
            else:
                book.bought += message.shares
        if not book.open_parts:
            self._judge(message.key, self._books.pop(message.key))

    def settled(self) -> int:
        """Return how many messages have their outcome."""
        return sum(sum(counts) for counts in self.outcomes)

    def close(self) -> None:
        """Judge the orders that the run's end has cut off."""
        for order_id, book in self._books.items():
            self._judge(order_id, book)
        self._books.clear()

    def _judge(self, order_id: str, book: Book) -> None:
        if book.over:
            self.expected_alerts += 1
            if len(self.expected_order_ids) < self.ids_limit:
                self.expected_order_ids.append(order_id)
        elif book.doubtful and len(self.doubtful_order_ids) < self.ids_limit:
            self.doubtful_order_ids.append(order_id)
