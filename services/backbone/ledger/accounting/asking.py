"""A question of the accountant to the ledger, and how much of an answer one turn looks at."""

from typing import Any, Final

from services.backbone.ledger.database import Pool, statements

ROWS_LIMIT: Final = 2000
"""Most rows of each kind, and most open findings, that one turn looks at."""


def ask(pool: Pool, row_factory: Any, statement: str, **terms: Any) -> list[Any]:
    """Return the answer's rows.

    Raises:
        Transient: Postgres is away or too busy.
    """
    with statements(pool) as connection:
        cursor = connection.cursor(row_factory=row_factory)
        return list(cursor.execute(statement.encode(), terms).fetchall())
