"""The outbox, in memory; see ledger/alerts/outbox.py."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from services.backbone.ledger.alerts.outbox import WAITING_LIMIT, Listed, OutboxEntry
from services.contracts.states import State
from tests.simulation.memory.tables import Row, Tables

NOT_TOLD: Final = (State.SUPPRESSED, State.CLOSED)
"""What waits for a rule, or was told in a digest, is not in the outbox."""


@dataclass(frozen=True)
class MemoryOutbox:
    """The statements of Outbox, each at one moment."""

    tables: Tables

    def mark_published(self, delivery_ids: Iterable[str]) -> None:
        """Take deliveries out of the outbox."""
        for delivery_id in delivery_ids:
            row = self.tables.rows.get(delivery_id)
            if row is not None and row.published_at is None:
                row.published_at = self.tables.now()

    def unpublished(self, *, after: str, older_than_seconds: float, limit: int) -> list[Listed]:
        """Return a page of the outbox."""
        before = self.tables.now() - older_than_seconds
        old = [row for row in waiting_rows(self.tables) if row.created_at <= before]
        found = [row for row in old if row.delivery_id > after]
        rows = sorted(found, key=lambda row: row.delivery_id)[:limit]
        return [Listed(row.delivery_id, len(row.record.encode())) for row in rows]

    def entries(self, delivery_ids: Collection[str]) -> list[OutboxEntry]:
        """Return the entries of those that are in the outbox."""
        found = [row for row in waiting_rows(self.tables) if row.delivery_id in delivery_ids]
        return entries_of(sorted(found, key=lambda row: row.delivery_id))

    def waiting(self, older_than_seconds: float = 0.0) -> int:
        """Count what is in the outbox for so long."""
        before = self.tables.now() - older_than_seconds
        found = [row for row in waiting_rows(self.tables) if row.updated_at <= before]
        return min(len(found), WAITING_LIMIT)


def waiting_rows(tables: Tables) -> list[Row]:
    """Return the rows that are in the outbox."""
    return [
        row
        for row in tables.rows.values()
        if row.published_at is None and row.state not in NOT_TOLD
    ]


def entries_of(rows: Iterable[Row]) -> list[OutboxEntry]:
    """Return rows as what their topics get."""
    return [OutboxEntry(row.delivery_id, row.channel, row.record.encode()) for row in rows]
