"""What is not sent yet, for people who want to know what a silence would hold back."""

from dataclasses import dataclass
from typing import Any, Final

from psycopg.rows import kwargs_row

from services.backbone.ledger.database import Pool, transaction
from services.contracts.records import Alert
from services.contracts.states import State

UNSENT_LIMIT: Final = 1000

# Written out as in the index deliveries_open: only then can it be used.
_UNSENT: Final = """
SELECT d.delivery_id, d.channel, d.recipient, d.state,
  (a.record - 'values' - 'event_ids')::text AS alert
FROM deliveries d JOIN alerts a USING (alert_id)
WHERE d.state IN ('PENDING', 'CLAIMED', 'RETRY_WAIT', 'IN_DOUBT', 'HELD', 'SUPPRESSED')
  AND d.state IN ('PENDING', 'RETRY_WAIT', 'SUPPRESSED')
ORDER BY d.created_at DESC, d.delivery_id LIMIT %s
"""


@dataclass(frozen=True, slots=True)
class UnsentRow:
    """One delivery that a silence could still hold back; its alert comes without values."""

    delivery_id: str
    channel: str
    recipient: str
    state: State
    alert: Alert


class Unsent:
    """Lists what is not sent yet; raises Transient while Postgres is away."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def newest(self, limit: int = UNSENT_LIMIT) -> list[UnsentRow]:
        """Return the newest deliveries that are still to be sent."""
        with transaction(self._pool) as connection:
            cursor = connection.cursor(row_factory=kwargs_row(_row))
            return cursor.execute(_UNSENT, (max(1, min(limit, UNSENT_LIMIT)),)).fetchall()


def _row(**row: Any) -> UnsentRow:
    alert = Alert.decode(row["alert"].encode())
    return UnsentRow(**row | {"state": State(row["state"]), "alert": alert})
