"""Where a page of a list begins that is read newest first; it stays valid while rows come."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Self

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
NO_CURSOR: Final = "a cursor is what an earlier answer gave as next_cursor"
"""What is told of a text that is none, to a list of the ledger or another."""
_TEXT: Final = re.compile(r"([0-9]{1,17})-([0-9a-f]{32})")


@dataclass(frozen=True, slots=True)
class PageStart:
    """After which row a page begins: its time in microseconds since 1970 (UTC), and its id."""

    at_us: int
    row_id: str

    @classmethod
    def of(cls, at: datetime, row_id: str) -> Self:
        """Return where the page behind a row begins, by its time (with a time zone) and its id."""
        return cls((at - _EPOCH) // timedelta(microseconds=1), row_id)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a cursor, as a client was given it.

        Raises:
            ValueError: it is not one.
        """
        if (match := _TEXT.fullmatch(text)) is None:
            raise ValueError(NO_CURSOR)
        return cls(int(match[1]), match[2])

    def __str__(self) -> str:
        return f"{self.at_us}-{self.row_id}"


NEWEST: Final = PageStart(253_402_300_799_000_000, "")
"""Before the first row, in the year 9999."""
