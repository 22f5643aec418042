"""Connections of a pool: while Postgres is away it is dialled again and again, for some seconds.

A pool of psycopg dials twice at once for whoever waits and, if nobody answers, lets them wait all
their time, though the server may be back after a second; its own longer tries are a second apart
and more.
"""

import asyncio
import random
from collections.abc import Iterator
from threading import Event
from typing import Any, Final, Self

import psycopg
from psycopg.rows import TupleRow

from services.backbone.backoff import Backoff
from services.backbone.clock import SystemClock

DIAL_SECONDS: Final = 5
"""How long one is dialled for: as long as who waits for the connection does."""

_AGAIN: Final = Backoff(first_seconds=0.02, limit_seconds=0.2)


class DialledConnection(psycopg.Connection[TupleRow]):
    """A connection of threads."""

    @classmethod
    def connect(cls, conninfo: str = "", **kwargs: Any) -> Self:
        """Connect as soon as Postgres is there.

        Raises:
            psycopg.OperationalError: it was away all the while, or does not let us in.
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
    until_seconds = clock.monotonic_seconds() + DIAL_SECONDS
    while clock.monotonic_seconds() < until_seconds:
        tries += 1
        yield _AGAIN.seconds(tries, rng)


def _pause(pauses: Iterator[float], error: psycopg.OperationalError) -> float:
    """Return how long to wait after a try that failed; raises its error after the last."""
    pause = None if not_let_in(error) else next(pauses, None)
    if pause is None:
        raise error
    return pause
