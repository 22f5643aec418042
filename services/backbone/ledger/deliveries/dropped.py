"""Addresses that a provider has declared dead; each kept by its digest, since it may be secret."""

from dataclasses import dataclass
from datetime import UTC, datetime

import psycopg
from psycopg.rows import TupleRow

from services.backbone.ledger.database import (
    Pool,
    connection_options,
    sorted_troubles,
    transaction,
)
from services.backbone.settings import LedgerSettings

_ALL = """
SELECT address_digest, recipient, reason, (extract(epoch FROM dropped_at) * 1000)::bigint
FROM dropped_addresses WHERE channel = %s"""
_RECIPIENTS = """
SELECT channel, recipient, (array_agg(reason ORDER BY dropped_at DESC))[1]
FROM dropped_addresses GROUP BY channel, recipient"""
_REMOVE = "DELETE FROM dropped_addresses WHERE channel = %s AND recipient = %s"
_ADD = """
INSERT INTO dropped_addresses (channel, address_digest, recipient, reason, dropped_at)
VALUES (%s, %s, %s, %s, %s)
ON CONFLICT (channel, address_digest) DO UPDATE
SET reason = excluded.reason, dropped_at = excluded.dropped_at, noted_at = now()
WHERE dropped_addresses.dropped_at < excluded.dropped_at"""


@dataclass(frozen=True, slots=True)
class DroppedAddress:
    """One dead address; `dropped_at_ms` is since when, by the provider's word."""

    address_digest: str
    recipient: str
    reason: str
    dropped_at_ms: int


class DroppedAddresses:
    """One channel's dead addresses; asked rarely, so each question has its own connection."""

    def __init__(self, settings: LedgerSettings, channel: str) -> None:
        self._url = settings.postgres_url.get_secret_value()
        self._channel = channel

    async def all(self) -> list[DroppedAddress]:
        """Return all of the channel.

        Raises:
            Transient: Postgres is away.
        """
        with sorted_troubles():
            async with await self._connected() as connection:
                found = await connection.execute(_ALL, (self._channel,))
                return [DroppedAddress(*row) for row in await found.fetchall()]

    async def add(self, dropped: DroppedAddress) -> None:
        """Keep one; of several words about one address the latest counts.

        Raises:
            Transient: Postgres is away.
        """
        at = datetime.fromtimestamp(dropped.dropped_at_ms / 1000, UTC)
        row = (self._channel, dropped.address_digest, dropped.recipient, dropped.reason, at)
        with sorted_troubles():
            async with await self._connected() as connection:
                await connection.execute(_ADD, row)

    async def remove(self, recipient: str) -> None:
        """Forget a recipient's dead addresses: a new one of theirs was just used.

        Raises:
            Transient: Postgres is away.
        """
        with sorted_troubles():
            async with await self._connected() as connection:
                await connection.execute(_REMOVE, (self._channel, recipient))

    async def _connected(self) -> psycopg.AsyncConnection[TupleRow]:
        return await psycopg.AsyncConnection.connect(self._url, **connection_options())


class DroppedRecipients:
    """Whose last known address is dead, for those who ask who would be told."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def reasons(self) -> dict[tuple[str, str], str]:
        """Return why, by channel and recipient.

        Raises:
            Transient: Postgres is away.
        """
        with transaction(self._pool) as connection:
            return {(row[0], row[1]): row[2] for row in connection.execute(_RECIPIENTS)}
