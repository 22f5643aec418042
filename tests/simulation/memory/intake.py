"""Accepting alerts, in memory; see ledger/alerts/intake.py."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from services.backbone.errors import Transient
from services.backbone.ledger.alerts.intake import Accepted, NewAlert
from tests.simulation.memory.outbox import entries_of, waiting_rows
from tests.simulation.memory.tables import Tables


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
        left = [row for row in waiting_rows(self.tables) if row.alert_id in repeats]
        accepted.left_over = entries_of(
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
