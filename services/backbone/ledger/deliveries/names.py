"""Which recipients a channel's deliverers know by name, told by them when they start."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from psycopg.rows import scalar_row

from services.backbone.ledger.database import AsyncPool, Pool, transaction
from services.backbone.ledger.statements import fetch_all

_TELL: Final = """
INSERT INTO channel_names (channel, names) VALUES (%(channel)s, %(names)s)
ON CONFLICT (channel) DO UPDATE SET names = excluded.names, told_at = ledger_now()
RETURNING channel"""
_ALL: Final = "SELECT channel, names FROM channel_names"


@dataclass(frozen=True)
class NamesBook:
    """Keeps what the deliverers of one channel know; the one that started last is believed."""

    pool: AsyncPool
    channel: str

    async def tell(self, names: Collection[str]) -> None:
        """Say which names the channel's settings have.

        Raises:
            Transient: Postgres is away.
        """
        terms = {"channel": self.channel, "names": sorted(names)}
        await fetch_all(self.pool, scalar_row, _TELL, terms)


def known_names(pool: Pool) -> Mapping[str, frozenset[str]]:
    """Return the known names by channel, of each channel whose deliverer has told them.

    Raises:
        Transient: Postgres is away.
    """
    with transaction(pool) as connection:
        return {channel: frozenset(names) for channel, names in connection.execute(_ALL)}
