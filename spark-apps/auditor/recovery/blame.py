"""Tells whether a record or a changed table of rules is to blame for SQL that fails."""

from collections.abc import Callable, Sequence

from auditor.queries.declared import Declared
from auditor.queries.rules import Row
from auditor.recovery.poison import Verdict
from services.backbone.errors import Refused

Numbered = tuple[int, Row]
"""A row with its line in the file."""


class RowsToBlame(Refused):
    """The watch works with the rows that it had before, and fails with those that it has now."""

    def __init__(self, reason: str, earlier: Declared) -> None:
        super().__init__(reason)
        self.earlier = earlier
        """The declaration that worked."""


def is_of_rows(verdict: Verdict, fails_with_earlier: Callable[[], bool]) -> bool:
    """Tell whether new rows are to blame, after a search with them in a watch that worked before.

    What fails with the earlier rows too is the record's. Where all was looked at and nothing fails
    alone, what has changed is the rows, and to go back to those that worked is what can be tried.
    """
    if verdict.unseen:
        return False
    return verdict.guilty is None or not fails_with_earlier()


def changed(rows: Sequence[Row], earlier: Sequence[Row]) -> list[Numbered]:
    """Return the rows that are new, each with its line; the header is line 1."""
    known = set(earlier)
    return [(line, row) for line, row in enumerate(rows, start=2) if row not in known]


def guilty_line(new: Sequence[Numbered], fails: Callable[[tuple[Row, ...]], bool]) -> int | None:
    """Return the line of the one row that fails by itself, by halving; None if there is none.

    `fails` runs the record that was found with these rows only.
    """
    left = list(new) if new and fails(tuple(row for _, row in new)) else []
    while len(left) > 1:
        middle = len(left) // 2
        halves = left[:middle], left[middle:]
        left = next((half for half in halves if fails(tuple(row for _, row in half))), [])
    return left[0][0] if left else None
