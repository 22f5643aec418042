"""Connections of a pool: while Postgres is away it is dialled a few times a second.

A pool of psycopg dials twice at once for whoever waits and, if nobody answers, lets them wait all
their time, though the server may be back after a second; its own longer tries are a second apart
and more. Here one try of the pool is many, and where all are in vain and somebody waits still,
`dial_on` has it try again.
"""

import asyncio
import random
from collections.abc import Iterator
from threading import Event
from typing import Any, Final, Self

import psycopg
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool, ConnectionPool

from services.backbone.backoff import Backoff
from services.backbone.clock import SystemClock

_DIAL_SECONDS: Final = 0.5
"""How long one try goes on; a pool that is closed waits for it."""
_AGAIN: Final = Backoff(first_seconds=0.02, limit_seconds=0.2)
_TURNED_DOWN_SECONDS: Final = 1.0
"""Between tries with a wrong password, which a server may count."""
_WAITING: Final = "requests_waiting"


class DialledConnection(psycopg.Connection[TupleRow]):
    """A connection of threads."""

    @classmethod
    def connect(cls, conninfo: str = "", **kwargs: Any) -> Self:
        """Connect as soon as Postgres is there.

        Raises:
            psycopg.OperationalError: it was away all the while, or did not let us in.
        """
        pauses, clock, never = _pauses(), SystemClock(), Event()
        while True:
            try:
                return super().connect(conninfo, **kwargs)
            except psycopg.OperationalError as error:
                clock.wait(never, _pause(pauses, error))


class DialledAsyncConnection(psycopg.AsyncConnection[TupleRow]):
    """A connection of asyncio."""

    @classmethod
    async def connect(cls, conninfo: str = "", **kwargs: Any) -> Self:
        """Connect as `DialledConnection` does."""
        pauses = _pauses()
        while True:
            try:
                return await super().connect(conninfo, **kwargs)
            except psycopg.OperationalError as error:
                await asyncio.sleep(_pause(pauses, error))


def dial_on(pool: ConnectionPool[Any]) -> None:
    """Have a pool whose tries were in vain begin anew, if somebody waits."""
    if pool.get_stats().get(_WAITING):
        pool.check()


async def dial_on_there(pool: AsyncConnectionPool[Any]) -> None:
    """Do as `dial_on` does."""
    if pool.get_stats().get(_WAITING):
        await pool.check()


def not_let_in(error: psycopg.OperationalError) -> bool:
    """Tell whether a connection failed for want of the right password.

    By the text, since libpq hands out no code of a log-in that was turned down.
    """
    login = error.pgconn
    wrong = "password authentication failed" in str(error)
    return login is not None and (login.needs_password or (login.used_password and wrong))


def _pauses() -> Iterator[float]:
    """Yield the seconds before each next try, until the time for dialling is over."""
    clock, rng, tries = SystemClock(), random.SystemRandom(), 0
    until_seconds = clock.monotonic_seconds() + _DIAL_SECONDS
    while clock.monotonic_seconds() < until_seconds:
        tries += 1
        yield _AGAIN.seconds(tries, rng)


def _pause(pauses: Iterator[float], error: psycopg.OperationalError) -> float:
    """Return how long to wait after a try that failed; raises its error after the last."""
    pause = next(pauses, None)
    if pause is None:
        raise error
    return _TURNED_DOWN_SECONDS if not_let_in(error) else pause
