"""What has waited for longer than it may, and channels on which nobody sends what is due."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from psycopg.rows import class_row, scalar_row

from services.backbone.ledger.accounting import overdue_sql
from services.backbone.ledger.accounting.asking import ROWS_LIMIT, ask
from services.backbone.ledger.accounting.findings import Finding
from services.backbone.ledger.database import Pool
from services.contracts.watches import ACCOUNTANT


@dataclass(frozen=True, slots=True)
class OpenRow:
    """What waits for evidence, for a person, or for a lookout beyond its time; by its kind."""

    kind: str
    subject: str
    channel: str
    waited_seconds: float
    reason: str


@dataclass(frozen=True, slots=True)
class Backlog:
    """Deliveries of one channel that nobody sends although they are due."""

    channel: str
    count: int
    longest_seconds: float


class OverdueRows:
    """Asks what is overdue; every method raises Transient while Postgres is away or too busy."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def open_rows(self, since_seconds: float, limits: Mapping[str, float]) -> list[OpenRow]:
        """Return what waits for longer than its kind's limit, the longest first; at most ROWS_LIMIT
        of each kind, and of what has failed only what was made since so long ago.
        """
        return ask(
            self._pool, class_row(OpenRow), overdue_sql.OVERDUE, **_terms(since_seconds, limits)
        )

    def new_rows(self, since_seconds: float, limits: Mapping[str, float]) -> list[OpenRow]:
        """Return the same without what is known: no open finding is about it."""
        return ask(self._pool, class_row(OpenRow), overdue_sql.NEW, **_terms(since_seconds, limits))

    def settled(self, since_seconds: float, limits: Mapping[str, float]) -> list[Finding]:
        """Return open findings about what is no longer among these rows; at most ROWS_LIMIT of
        each kind.
        """
        return ask(
            self._pool, class_row(Finding), overdue_sql.SETTLED, **_terms(since_seconds, limits)
        )

    def count_open_rows(self, since_seconds: float, limits: Mapping[str, float]) -> int:
        """Count these rows, also beyond ROWS_LIMIT."""
        terms = _terms(since_seconds, limits)
        return sum(ask(self._pool, scalar_row, overdue_sql.COUNTED, **terms))

    def backlogs(self, due_seconds: float) -> list[Backlog]:
        """Return the channels on which something is due for longer than this."""
        return ask(self._pool, class_row(Backlog), overdue_sql.BACKLOGS, due=due_seconds)


def _terms(since_seconds: float, limits: Mapping[str, float]) -> dict[str, Any]:
    return {"since": since_seconds, "limit": ROWS_LIMIT, "own": ACCOUNTANT, **limits}
