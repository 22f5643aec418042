"""Accepting alerts and the outbox, in memory; see services/backbone/ledger/intake.py, outbox.py."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from services.backbone.errors import Transient
from services.backbone.ledger.intake import Accepted, NewAlert
from services.backbone.ledger.outbox import WAITING_LIMIT, Listed, OutboxEntry
from services.contracts.states import State
from tests.simulation.memory.tables import Row, Tables

NOT_TOLD: Final = (State.SUPPRESSED, State.CLOSED)
"""What waits for a rule, or was told in a digest, is not in the outbox."""


@dataclass(frozen=True)
class MemoryIntake:
    """The statements of Intake, each at one moment."""

    tables: Tables
    unsecured: set[str] = field(default_factory=set)

    def accept(self, batch: Sequence[NewAlert]) -> Accepted:
        """Record alerts that are not recorded yet, each together with its deliveries."""
        accepted = Accepted()
        repeats = set()
        for each in batch:
            alert_id = each.alert.alert_id
            if alert_id in self.tables.alerts:
                repeats.add(alert_id)
                continue
            self.tables.accept(each)
            accepted.new.add(alert_id)
        self.unsecured.update(repeats, accepted.new)
        left = [row for row in self._outbox() if row.alert_id in repeats]
        accepted.left_over = _entries(
            sorted(left, key=lambda row: (row.created_at, row.delivery_id))
        )
        return accepted

    def recorded(self, alert_ids: Collection[str]) -> set[str]:
        """Return which of these alerts are recorded; they are secured like accepted ones."""
        found = set(alert_ids) & self.tables.alerts.keys()
        self.unsecured.update(found)
        return found

    def secure(self) -> None:
        """Have everything on the disk."""
        if lost := self.unsecured - self.tables.alerts.keys():
            raise Transient(f"{len(lost)} alerts are lost")
        self.unsecured.clear()

    def mark_published(self, delivery_ids: Iterable[str]) -> None:
        """Take deliveries out of the outbox."""
        for delivery_id in delivery_ids:
            row = self.tables.rows.get(delivery_id)
            if row is not None and row.published_at is None:
                row.published_at = self.tables.now()

    def unpublished(self, *, after: str, older_than_seconds: float, limit: int) -> list[Listed]:
        """Return a page of the outbox."""
        before = self.tables.now() - older_than_seconds
        found = [
            row for row in self._outbox() if row.delivery_id > after and row.created_at <= before
        ]
        rows = sorted(found, key=lambda row: row.delivery_id)[:limit]
        return [Listed(row.delivery_id, len(row.record.encode())) for row in rows]

    def entries(self, delivery_ids: Collection[str]) -> list[OutboxEntry]:
        """Return the entries of those that are in the outbox."""
        found = [row for row in self._outbox() if row.delivery_id in delivery_ids]
        return _entries(sorted(found, key=lambda row: row.delivery_id))

    def waiting(self, older_than_seconds: float = 0.0) -> int:
        """Count what is in the outbox for so long."""
        before = self.tables.now() - older_than_seconds
        found = [row for row in self._outbox() if row.updated_at <= before]
        return min(len(found), WAITING_LIMIT)

    def _outbox(self) -> list[Row]:
        return [
            row
            for row in self.tables.rows.values()
            if row.published_at is None and row.state not in NOT_TOLD
        ]


def _entries(rows: Iterable[Row]) -> list[OutboxEntry]:
    return [OutboxEntry(row.delivery_id, row.channel, row.record.encode()) for row in rows]
