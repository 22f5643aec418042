"""One statement, one transaction: how asyncio programs talk to the ledger."""

from collections.abc import Mapping
from typing import Any, LiteralString, TypeVar

from psycopg.rows import AsyncRowFactory

from services.backbone.ledger.database import AsyncPool, sorted_troubles

Row = TypeVar("Row")


async def fetch_all(
    pool: AsyncPool,
    row_factory: AsyncRowFactory[Row],
    statement: LiteralString,
    terms: Mapping[str, Any],
) -> list[Row]:
    """Run a statement in a transaction of its own and return its rows.

    Raises:
        Transient: Postgres is away or busy; the statement may nevertheless have been committed.
    """
    with sorted_troubles():
        async with pool.connection() as connection:
            await connection.set_autocommit(True)
            async with connection.cursor(row_factory=row_factory) as cursor:
                await cursor.execute(statement, terms)
                return await cursor.fetchall()
