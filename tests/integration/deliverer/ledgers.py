"""Puts deliveries into a ledger and reads how they stand."""

from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg.rows import dict_row

from services.backbone.ledger.schema import migrate
from services.backbone.settings import LedgerSettings
from services.contracts.records import Delivery
from tests.postgres import OwnPostgres

_ALERT = """
INSERT INTO alerts
  (alert_id, watch, severity, summary, record, routed_by, appended_at, detected_at)
VALUES (%s, %s, %s, %s, %s, 'test', now(), now()) ON CONFLICT DO NOTHING"""
_DELIVERY = """
INSERT INTO deliveries (delivery_id, alert_id, channel, recipient, repetition, record)
VALUES (%s, %s, %s, %s, %s, %s)"""


@dataclass
class Ledger:
    """A test's ledger, seen from outside of the programs; close it when it was read."""

    url: str
    _kept: "psycopg.Connection[dict[str, Any]] | None" = field(default=None, repr=False)
    """Tests look often, and making a connection takes more of the machine than a look."""

    @property
    def name(self) -> str:
        """The name of its database."""
        return self.url.rpartition("/")[2]

    def migrated(self) -> "Ledger":
        migrate(LedgerSettings.model_validate({"postgres_url": self.url}))
        return self

    def add(self, *deliveries: Delivery) -> None:
        with psycopg.connect(self.url) as connection, connection.cursor() as cursor:
            cursor.executemany(_ALERT, [_alert_row(each) for each in deliveries])
            cursor.executemany(_DELIVERY, [_delivery_row(each) for each in deliveries])

    def rows(self, query: str = "SELECT * FROM deliveries") -> list[dict[str, Any]]:
        return self._connection().execute(query.encode()).fetchall()

    def row(self, one: Delivery) -> dict[str, Any]:
        return self.by_id()[one.delivery_id]

    def by_id(self) -> dict[str, dict[str, Any]]:
        return {row["delivery_id"]: row for row in self.rows()}

    def states(self) -> dict[str, str]:
        return {row["delivery_id"]: row["state"] for row in self.rows()}

    def attempts(self, one: Delivery) -> list[dict[str, Any]]:
        rows = self.rows("SELECT * FROM attempts ORDER BY attempt")
        return [row for row in rows if row["delivery_id"] == one.delivery_id]

    def end_leases(self) -> None:
        """Let the lease of every claim be over, as if it had been waited for."""
        self.execute("UPDATE deliveries SET lease_until = ledger_now() WHERE state = 'CLAIMED'")

    def execute(self, statement: str, *terms: object) -> None:
        with psycopg.connect(self.url) as connection:
            connection.execute(statement.encode(), terms)

    def close(self) -> None:
        if self._kept is not None:
            self._kept.close()

    def _connection(self) -> "psycopg.Connection[dict[str, Any]]":
        """Return the kept connection, or a new one where Postgres was away meanwhile."""
        if self._kept is None or not _serves(self._kept):
            self.close()
            self._kept = psycopg.connect(self.url, autocommit=True, row_factory=dict_row)
        return self._kept


def _serves(connection: "psycopg.Connection[dict[str, Any]]") -> bool:
    try:
        connection.execute("SELECT")
    except psycopg.OperationalError:
        return False
    return True


def new_ledger(own: OwnPostgres) -> Ledger:
    """Return an empty ledger in a database of its own."""
    return Ledger(own.new_database()).migrated()


def _alert_row(each: Delivery) -> tuple[str, ...]:
    alert = each.alert
    record = alert.encode().decode()
    return (alert.alert_id, alert.watch, alert.severity, alert.summary, record)


def _delivery_row(each: Delivery) -> tuple[str | int, ...]:
    record = each.encode().decode()
    ids = (each.delivery_id, each.alert.alert_id, each.channel, each.recipient)
    return (*ids, each.repetition, record)
