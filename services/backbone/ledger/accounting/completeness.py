"""Whether all that was found is in the ledger, and all whom it names have a delivery."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from psycopg.rows import class_row, scalar_row

from services.backbone.ledger.accounting.asking import ROWS_LIMIT, ask
from services.backbone.ledger.database import Pool, statements
from services.backbone.ledger.states import OVER

TOTALS_LIMIT: Final = 200
"""Most alerts whose deliveries are counted at once."""

_ASIDE: Final = """
INSERT INTO set_aside (key) SELECT unnest(%(keys)s::text[]) ON CONFLICT DO NOTHING"""

_MISSING: Final = """
SELECT key FROM unnest(%(keys)s::text[]) AS given (key)
WHERE NOT EXISTS (SELECT FROM alerts WHERE alert_id = key)
  AND NOT EXISTS (SELECT FROM set_aside s WHERE s.key = given.key)
  AND NOT EXISTS (SELECT FROM forgiven f
    WHERE f.kind = 'missing_alert' AND f.subject = given.key)"""

_ABSENCES: Final = """
SELECT a.alert_id, told ->> 'delivery_id' AS delivery_id, told ->> 'channel' AS channel,
  told ->> 'recipient' AS recipient
FROM alerts a, jsonb_array_elements(coalesce(a.decision -> 'told', '[]')) AS told
WHERE a.alert_id = ANY(%(ids)s)
  AND NOT EXISTS (SELECT FROM deliveries d WHERE d.delivery_id = told ->> 'delivery_id')
  AND NOT EXISTS (SELECT FROM forgiven f
    WHERE f.kind = 'missing_recipient' AND f.subject = told ->> 'delivery_id')"""

_STILL_ABSENT: Final = """
SELECT subject FROM findings f
WHERE kind = 'missing_recipient' AND ended_at IS NULL AND subject = ANY(%(ids)s)
  AND NOT EXISTS (SELECT FROM deliveries d WHERE d.delivery_id = f.subject)
  AND NOT EXISTS (SELECT FROM forgiven g WHERE (g.kind, g.subject) = (f.kind, f.subject))"""

# The first condition lets the index begin at the right place; the second is exact.
_PAGE: Final = """
SELECT (extract(epoch FROM accepted_at) * 1000000)::bigint AS at_us, alert_id FROM alerts
WHERE accepted_at >= greatest('epoch'::timestamptz + %(at_us)s * interval '1 microsecond',
    ledger_now() - make_interval(secs => %(since)s))
  AND (accepted_at > 'epoch'::timestamptz + %(at_us)s * interval '1 microsecond'
    OR alert_id < %(alert_id)s)
  AND accepted_at < ledger_now() - make_interval(secs => %(until)s)
ORDER BY accepted_at, alert_id DESC LIMIT %(limit)s"""

_TOTALS: Final = f"""
SELECT count(DISTINCT a.alert_id) AS alerts, count(d.delivery_id) AS recipients,
  count(*) FILTER (WHERE d.state IN ({OVER})) AS terminal,
  count(*) FILTER (WHERE d.state NOT IN ({OVER})) AS open
FROM alerts a LEFT JOIN deliveries d USING (alert_id)
WHERE a.alert_id = ANY(%(ids)s)"""  # noqa: S608 - no input in it


@dataclass(frozen=True, slots=True)
class Absence:
    """A recipient whom the alert's decision names, without a delivery."""

    alert_id: str
    delivery_id: str
    channel: str
    recipient: str


@dataclass(frozen=True, slots=True)
class Place:
    """After which alert a page begins."""

    at_us: int = 0
    alert_id: str = ""


@dataclass(frozen=True, slots=True)
class Totals:
    """How many alerts and deliveries the ledger has of some, and how they stand."""

    alerts: int = 0
    recipients: int = 0
    terminal: int = 0
    open: int = 0

    def __add__(self, other: "Totals") -> "Totals":
        return Totals(
            self.alerts + other.alerts,
            self.recipients + other.recipients,
            self.terminal + other.terminal,
            self.open + other.open,
        )


class Completeness:
    """Compares and counts; every method raises Transient while Postgres is away or too busy."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def keep_aside(self, keys: Sequence[str]) -> None:
        """Note what topic alerts.rejected holds."""
        with statements(self._pool) as connection:
            connection.execute(_ASIDE, {"keys": sorted(set(keys))})

    def missing(self, keys: Sequence[str]) -> set[str]:
        """Return the keys, alert ids or places, that are neither recorded nor set aside."""
        return set(ask(self._pool, scalar_row, _MISSING, keys=list(keys)))

    def absences(self, alert_ids: Sequence[str]) -> list[Absence]:
        """Return recipients of these alerts that have no delivery."""
        return ask(self._pool, class_row(Absence), _ABSENCES, ids=list(alert_ids))

    def still_absent(self, delivery_ids: Sequence[str]) -> set[str]:
        """Return those of the deliveries that are still not there, while their alert is."""
        return set(ask(self._pool, scalar_row, _STILL_ABSENT, ids=list(delivery_ids)))

    def page(self, after: Place, *, since_seconds: float, until_seconds: float) -> list[Place]:
        """Return the next alerts accepted between two ages, oldest first."""
        terms = {"since": since_seconds, "until": until_seconds, "limit": ROWS_LIMIT}
        own = {"at_us": after.at_us, "alert_id": after.alert_id}
        return ask(self._pool, class_row(Place), _PAGE, **terms, **own)

    def totals(self, alert_ids: Sequence[str]) -> Totals:
        """Count those of the alerts that are there, and their deliveries.

        At most TOTALS_LIMIT, since each may have very many.
        """
        found: list[Totals] = ask(self._pool, class_row(Totals), _TOTALS, ids=list(alert_ids))
        return found[0]
