"""Alerts that mute others for a while, as recorded at intake."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from psycopg.rows import class_row

from services.backbone.ledger.database import Pool, transaction

INHIBITORS_LIMIT: Final = 10_000
"""Most alerts that are kept in mind; of more, the newest."""

_FRESH: Final = """
SELECT alert_id, inhibits, detected_at, acknowledged_at IS NOT NULL AS acknowledged
FROM alerts
WHERE inhibits IS NOT NULL AND accepted_at > ledger_now() - make_interval(secs => %s)
ORDER BY accepted_at DESC LIMIT %s
"""


@dataclass(frozen=True, slots=True)
class InhibitorRow:
    """One alert and the keys by which it mutes others."""

    alert_id: str
    inhibits: list[str]
    detected_at: datetime
    acknowledged: bool


class Inhibitors:
    """Reads them; safe to use from several threads."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def fresh(self, within_seconds: float) -> list[InhibitorRow]:
        """Return those accepted within a time, newest first.

        Raises:
            Transient: Postgres is away.
        """
        with transaction(self._pool) as connection:
            cursor = connection.cursor(row_factory=class_row(InhibitorRow))
            return cursor.execute(_FRESH, (within_seconds, INHIBITORS_LIMIT)).fetchall()
