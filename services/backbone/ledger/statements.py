"""How asyncio programs talk to the ledger: mostly one statement, one transaction."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, LiteralString, TypeVar

from psycopg import AsyncConnection
from psycopg.rows import AsyncRowFactory, TupleRow

from services.backbone.ledger.database import AsyncPool, sorted_troubles

Row = TypeVar("Row")
Connection = AsyncConnection[TupleRow]


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
        async with _lent(pool) as connection:
            await connection.set_autocommit(True)
            return await fetch_within(connection, row_factory, statement, terms)


async def fetch_within(
    connection: Connection,
    row_factory: AsyncRowFactory[Row],
    statement: LiteralString,
    terms: Mapping[str, Any],
) -> list[Row]:
    """Run a statement in the transaction that the connection is in, and return its rows."""
    async with connection.cursor(row_factory=row_factory) as cursor:
        await cursor.execute(statement, terms)
        return await cursor.fetchall()


@asynccontextmanager
async def transaction(pool: AsyncPool) -> AsyncIterator[Connection]:
    """Give a connection for several statements: all of them or none.

    Raises:
        Transient: Postgres is away or busy, or ended it because nothing came for too long; it may
            nevertheless have been committed.
    """
    with sorted_troubles():
        async with _lent(pool) as connection:
            await connection.set_autocommit(False)
            yield connection


@asynccontextmanager
async def _lent(pool: AsyncPool) -> AsyncIterator[Connection]:
    """Lend a connection; one that dies meanwhile stands for all others of its pool.

    After a failover in silence each of them would cost a call its ten seconds.
    """
    async with pool.connection() as connection:
        try:
            yield connection
        finally:
            if connection.broken:
                await pool.drain()
