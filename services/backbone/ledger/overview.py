"""How everything stands now, in some bounded questions: what a page asks again and again."""

from dataclasses import dataclass
from typing import Any, Final

from psycopg.rows import dict_row

from services.backbone.ledger import questions
from services.backbone.ledger.database import Connection, Pool, transaction
from services.backbone.ledger.rows import DeliveryRow, delivery_of
from services.contracts.states import State

COUNT_LIMIT: Final = 10_000
"""More rows of one kind are not counted to their end."""
ALERTS_COUNT_LIMIT: Final = 1000
"""More alerts are not counted to the end."""
WAITING_LIMIT: Final = 100
"""Most rows of one state in the list of what waits for a person."""
FAILED_COUNT_LIMIT: Final = 1000

_OPEN_ALERTS: Final = """
SELECT severity, count(*) AS count FROM (
  SELECT severity, acknowledged_at FROM alerts
  WHERE accepted_at > ledger_now() - make_interval(hours => %(hours)s)
  ORDER BY accepted_at DESC LIMIT %(limit)s) AS newest
WHERE acknowledged_at IS NULL GROUP BY severity"""

# Open states are written out as in the index deliveries_open: only then can it be used.
_CHANNELS: Final = """
SELECT channel, state, count(*) AS count,
  (extract(epoch FROM ledger_now() - min(created_at)) * 1000)::bigint AS oldest_ms
FROM (SELECT channel, state, created_at FROM deliveries
  WHERE state IN ('PENDING', 'CLAIMED', 'RETRY_WAIT', 'IN_DOUBT', 'HELD', 'SUPPRESSED')
  LIMIT %(limit)s) AS open
GROUP BY channel, state
UNION ALL
SELECT channel, state, count(*), 0
FROM (SELECT channel, state FROM deliveries
  WHERE created_at > ledger_now() - make_interval(mins => %(minutes)s)
  ORDER BY created_at DESC LIMIT %(limit)s) AS newest
WHERE state IN ('SENT', 'CONFIRMED', 'FAILED', 'CLOSED')
GROUP BY channel, state"""

_FAILED: Final = """
SELECT count(*) AS count FROM (
  SELECT FROM deliveries WHERE state = 'FAILED' LIMIT %(limit)s) AS failed"""


@dataclass(frozen=True, slots=True)
class ChannelState:
    """How many deliveries of a channel are in a state; `oldest_ms` is 0 where nothing waits."""

    channel: str
    state: State
    count: int
    oldest_ms: int


@dataclass(frozen=True, slots=True)
class Overview:
    """How the ledger stands.

    `open_alerts` counts by severity what came in the last hours and nobody has acknowledged.
    `channels` counts what is open, and of what is over what was recorded in the last minutes.
    `waiting` is what only a person moves on, the oldest first.
    """

    open_alerts: dict[str, int]
    channels: list[ChannelState]
    waiting: list[DeliveryRow]
    failed: int

    @property
    def open_alerts_total(self) -> int:
        """All open alerts."""
        return sum(self.open_alerts.values())


@dataclass(frozen=True, slots=True)
class Spans:
    """How far back it is counted."""

    alerts_hours: int = 24
    ended_minutes: int = 60


class Overviews:
    """Asks how everything stands; raises Transient while Postgres is away."""

    def __init__(self, pool: Pool, spans: Spans | None = None) -> None:
        self._pool = pool
        self._spans = spans or Spans()

    def now(self) -> Overview:
        """Return how everything stands, as of one moment."""
        with transaction(self._pool) as connection:
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            return self._read(connection)

    def _read(self, connection: Connection) -> Overview:
        hours = {"hours": self._spans.alerts_hours, "limit": ALERTS_COUNT_LIMIT}
        minutes = {"minutes": self._spans.ended_minutes, "limit": COUNT_LIMIT}
        alerts = _ask(connection, _OPEN_ALERTS, hours)
        channels = _ask(connection, _CHANNELS, minutes)
        waiting = _ask(connection, questions.WAITING_FOR_PEOPLE, {"limit": WAITING_LIMIT})
        failed = _ask(connection, _FAILED, {"limit": FAILED_COUNT_LIMIT})
        return Overview(
            open_alerts={row["severity"]: row["count"] for row in alerts},
            channels=[ChannelState(**row | {"state": State(row["state"])}) for row in channels],
            # Those of one moment always stand alike, or they would change places at each look.
            waiting=sorted(
                map(delivery_of, waiting), key=lambda each: (each.created_at_ms, each.delivery_id)
            ),
            failed=failed[0]["count"],
        )


def _ask(connection: Connection, question: str, terms: dict[str, Any]) -> list[dict[str, Any]]:
    with connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(question.encode(), terms).fetchall()
