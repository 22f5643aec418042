"""Channels that a person has stopped: their deliveries stay due, and nobody claims them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from psycopg.rows import class_row, scalar_row

from services.backbone.ledger.database import AsyncPool, Connection, Pool, transaction
from services.backbone.ledger.statements import fetch_all

LIST_LIMIT: Final = 200

_IS_PAUSED: Final = "SELECT EXISTS (SELECT FROM channel_pauses WHERE channel = %(channel)s)"
_PAUSE: Final = """
INSERT INTO channel_pauses (channel, person, why) VALUES (%s, %s, %s)
ON CONFLICT (channel) DO NOTHING"""
_RESUME: Final = "DELETE FROM channel_pauses WHERE channel = %s"
_ALL: Final = "SELECT channel, person, why, at FROM channel_pauses ORDER BY channel LIMIT %s"


@dataclass(frozen=True, slots=True)
class Pause:
    """One channel that is stopped: since when, who said so, and why."""

    channel: str
    person: str
    why: str
    at: datetime


@dataclass(frozen=True)
class PauseWatch:
    """Asks whether one channel is stopped, on an event loop."""

    pool: AsyncPool
    channel: str

    async def paused(self) -> bool:
        """Tell whether nothing of the channel is to be claimed.

        Raises:
            Transient: Postgres is away.
        """
        rows = await fetch_all(self.pool, scalar_row, _IS_PAUSED, {"channel": self.channel})
        return bool(rows[0])


def pauses(pool: Pool) -> list[Pause]:
    """Return the channels that are stopped.

    Raises:
        Transient: Postgres is away.
    """
    with transaction(pool) as connection:
        cursor = connection.cursor(row_factory=class_row(Pause))
        return cursor.execute(_ALL, (LIST_LIMIT,)).fetchall()


def pause_on(connection: Connection, channel: str, person: str, why: str) -> bool:
    """Stop a channel, in the caller's transaction; return whether it ran before."""
    return connection.execute(_PAUSE, (channel, person, why)).rowcount == 1


def resume_on(connection: Connection, channel: str) -> bool:
    """Let a channel go on, in the caller's transaction; return whether it was stopped."""
    return connection.execute(_RESUME, (channel,)).rowcount == 1
