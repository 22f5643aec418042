"""Channels that a person has stopped: their deliveries stay due, and nobody claims them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from psycopg.rows import class_row

from services.backbone.ledger.database import Connection, Pool, transaction

LIST_LIMIT: Final = 200

IS_PAUSED: Final = "EXISTS (SELECT FROM channel_pauses WHERE channel = %(channel)s)"
"""Whether nothing of a channel is to be claimed."""

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
