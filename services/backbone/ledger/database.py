"""Connections to the ledger, and what becomes of their troubles."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final
from weakref import WeakKeyDictionary

import psycopg
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool, ConnectionPool, PoolTimeout

from services.backbone.clock import SystemClock
from services.backbone.errors import Refused, Transient
from services.backbone.ledger.dialing import (
    DialledAsyncConnection,
    DialledConnection,
    dial_on,
    dial_on_there,
    not_let_in,
)
from services.backbone.settings import LedgerSettings
from services.backbone.sockets import has_news

_CONNECT_TIMEOUT_SECONDS: Final = 5
_STATEMENT_TIMEOUT_MS: Final = 10_000
_SILENT_TIMEOUT_MS: Final = 5_000
"""A transaction whose program says nothing for so long is ended: others wait for what it locked."""
_SILENT_THERE_MS: Final = 1_000
"""The same in asyncio, where nothing but the ledger is waited for within one."""
_SILENT: Final = "idle_in_transaction_session_timeout"
_SURE_SECONDS: Final = 1.0
_AWAY: Final = (
    psycopg.OperationalError,
    psycopg.InterfaceError,
    psycopg.errors.IdleInTransactionSessionTimeout,
    psycopg.errors.ReadOnlySqlTransaction,
    PoolTimeout,
)
_ONLY_READS: Final = (b"default_transaction_read_only", b"in_hot_standby")
"""What a server says of itself since Postgres 14; a change of it comes with its next answer."""
_NOT_NOW: Final = "the server only reads for now"

WHAT_TO_SET: Final = (
    "set ALDEBARAN_POSTGRES_URL to postgresql://<user>:<password>@<host>:<port>/<database> "
    "(`make run` prints the line for its own)"
)

Connection = psycopg.Connection[TupleRow]
AsyncConnection = psycopg.AsyncConnection[TupleRow]
Pool = ConnectionPool[Connection]
AsyncPool = AsyncConnectionPool[AsyncConnection]


# Statements of the claim path touch some rows among very many, by index. Left to itself, Postgres
# plans for the table as it was when last counted, often empty, and reads all of it in a storm; and
# it plans anew each time, which takes longer than the work.
_FEW_OF_MANY: Final = {
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_bitmapscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "enable_material": "off",
    "jit": "off",
}


def connection_options() -> dict[str, Any]:
    """Return how every connection is made: bounded in time, known by name, TCP kept alive.

    Whatever the server's default, a commit waits for the disk unless its statement says otherwise:
    a claim that does not wait guards nothing. A server that only reads is as one that is away: a
    standby behind an address that has not moved yet, or one that its operator keeps from filling.
    Times come in UTC whatever the server's zone, where the last day of 9999 may be in the year
    10000, which no Python reads.
    """
    return {
        "connect_timeout": _CONNECT_TIMEOUT_SECONDS,
        "options": (
            f"-c statement_timeout={_STATEMENT_TIMEOUT_MS} -c synchronous_commit=on -c timezone=UTC"
            f" -c {_SILENT}={_SILENT_TIMEOUT_MS}"
        ),
        "target_session_attrs": "read-write",
        # These looks alone find a server that took a statement and then fell silent, and the
        # kernel's own span between them is 75 s.
        "keepalives_idle": 5,
        "keepalives_interval": 2,
        "keepalives_count": 3,
        "tcp_user_timeout": _STATEMENT_TIMEOUT_MS,
    }


def _pool_options(settings: LedgerSettings) -> dict[str, Any]:
    """Return how both kinds of pool behave: they dial while somebody waits, for some seconds."""
    return {
        "kwargs": connection_options(),
        "min_size": 1,
        "max_size": settings.postgres_pool_size,
        "timeout": _CONNECT_TIMEOUT_SECONDS,
        "reconnect_timeout": 0,
    }


def open_pool(settings: LedgerSettings) -> Pool:
    """Return a pool for threads."""
    url = settings.postgres_url.get_secret_value()

    def drain() -> None:
        pool.drain()

    pool: Pool = ConnectionPool(
        url,
        connection_class=DialledConnection,
        check=_Checks(drain),
        reconnect_failed=dial_on,
        open=True,
        **_pool_options(settings),
    )
    return pool


class _Checks:
    """Asks a connection whether it lives before it is used.

    One that did just now is believed, unless the server has said something: a goodbye, mostly.
    What is dead stands for all others of its pool, which `drain` lets go: one after the other they
    would cost a call some seconds. One whose server only reads is let go: behind its address there
    may be another by now.
    """

    def __init__(self, drain: Callable[[], None]) -> None:
        self._drain = drain
        self._lived_at: WeakKeyDictionary[Connection, float] = WeakKeyDictionary()
        self._clock = SystemClock()

    def __call__(self, connection: Connection) -> None:
        now = self._clock.monotonic_seconds()
        lived_now = now - self._lived_at.get(connection, -_SURE_SECONDS) < _SURE_SECONDS
        if not lived_now or has_news(connection.fileno()):
            self._ask(connection)
            self._lived_at[connection] = now
        if _only_reads(connection):
            connection.close()
            raise psycopg.OperationalError(_NOT_NOW)

    def _ask(self, connection: Connection) -> None:
        try:
            ConnectionPool.check_connection(connection)
        except psycopg.Error:
            self._drain()
            raise


async def _check(connection: AsyncConnection, pool: AsyncPool) -> None:
    """Ask a connection as `_Checks` does, but without news believe it: a claim does not wait."""
    if has_news(connection.fileno()):
        try:
            await AsyncConnectionPool.check_connection(connection)
        except psycopg.Error:
            await pool.drain()
            raise
    if _only_reads(connection):
        await connection.close()
        raise psycopg.OperationalError(_NOT_NOW)


def _only_reads(connection: Connection | AsyncConnection) -> bool:
    """Tell what the server has said of itself with its last answer."""
    return any(connection.pgconn.parameter_status(name) == b"on" for name in _ONLY_READS)


@contextmanager
def own_connection(settings: LedgerSettings) -> Iterator[Connection]:
    """Give a connection outside any pool, one transaction long: at a start, or for a command.

    Raises:
        Transient: Postgres is away.
        Refused: Postgres is there and does not let us in.
    """
    url = settings.postgres_url.get_secret_value()
    with sorted_troubles(), _log_in(url) as connection:
        yield connection


@contextmanager
def pool_of_command(settings: LedgerSettings) -> Iterator[Pool]:
    """Give a pool to what a person asks for; a pool by itself only says that it has waited.

    Raises:
        Transient: Postgres is away.
        Refused: Postgres is there and does not let us in.
    """
    with own_connection(settings):
        pass
    with open_pool(settings) as pool:
        yield pool


def _log_in(url: str) -> Connection:
    """Connect; only here is a bad password told from a server that is away.

    Programs that run keep waiting, since what they have in hand is not to be refused for it.
    """
    try:
        return psycopg.connect(url, **connection_options())
    except psycopg.OperationalError as error:
        if not_let_in(error):
            raise Refused(f"Postgres: {str(error).strip()}; {WHAT_TO_SET}") from error
        raise


def async_pool(settings: LedgerSettings) -> AsyncPool:
    """Return a pool for asyncio, not opened yet; for statements that touch some rows of many."""
    url = settings.postgres_url.get_secret_value()
    options = _pool_options(settings)
    silent = {_SILENT: _SILENT_THERE_MS}
    planned = " ".join(f"-c {name}={value}" for name, value in (_FEW_OF_MANY | silent).items())
    options["kwargs"] |= {
        "options": f"{options['kwargs']['options']} {planned}",
        "prepare_threshold": 0,
    }
    pool: AsyncPool = AsyncConnectionPool(
        url,
        connection_class=DialledAsyncConnection,
        check=lambda connection: _check(connection, pool),
        reconnect_failed=dial_on_there,
        open=False,
        **options,
    )
    return pool


@contextmanager
def sorted_troubles() -> Iterator[None]:
    """Turn Postgres being away, busy, restarted or read-only into Transient; let bugs through."""
    try:
        yield
    except _AWAY as error:
        raise Transient(f"Postgres: {str(error).strip() or type(error).__name__}") from error


@contextmanager
def statements(pool: Pool) -> Iterator[Connection]:
    """Give a connection whose every statement is its own transaction: each is one round trip.

    Raises:
        Transient: Postgres is away; what was asked last may have been committed.
    """
    with sorted_troubles(), pool.connection() as connection:
        connection.set_autocommit(True)
        yield connection


@contextmanager
def transaction(pool: Pool) -> Iterator[Connection]:
    """Give one transaction, whatever the connection was used for before: all of it or nothing.

    Raises:
        Transient: Postgres is away; where that was in the end, it may have been committed.
    """
    with sorted_troubles(), pool.connection() as connection, connection.transaction():
        yield connection


@contextmanager
def snapshot(pool: Pool) -> Iterator[Connection]:
    """Give a transaction that sees one moment and cannot write.

    Raises:
        Transient: Postgres is away or too busy.
    """
    with transaction(pool) as connection:
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield connection
