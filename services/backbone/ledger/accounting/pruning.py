"""Removes what the ledger has kept for long enough."""

from typing import Final

from services.backbone.ledger.database import Pool, statements
from services.backbone.ledger.states import OVER

PRUNED_FOR_EACH_LIMIT: Final = 10
"""Most deliveries that are removed at once, for each alert that may be."""

# Deliveries go first, so many at a time: one alert may have very many, each with rows of its own.
# Its steps go with the first of them: nothing new is to be made of it meanwhile.
_PRUNE_DELIVERIES: Final = f"""
WITH old AS MATERIALIZED (
  SELECT alert_id, accepted_at FROM alerts a
  WHERE accepted_at < ledger_now() - make_interval(secs => %(retention)s)
    AND NOT EXISTS (SELECT FROM deliveries d WHERE d.alert_id = a.alert_id
      AND d.state NOT IN ({OVER}))
  ORDER BY accepted_at LIMIT %(limit)s
), steps_gone AS (
  DELETE FROM escalations WHERE alert_id IN (SELECT alert_id FROM old)
)
DELETE FROM deliveries WHERE state IN ({OVER}) AND delivery_id = ANY(ARRAY(
  SELECT delivery_id FROM old CROSS JOIN LATERAL (
    SELECT delivery_id FROM deliveries d WHERE d.alert_id = old.alert_id
    LIMIT %(deliveries)s) AS its
  ORDER BY old.accepted_at LIMIT %(deliveries)s))"""  # noqa: S608 - no input in it

_PRUNE: Final = """
DELETE FROM alerts WHERE alert_id IN (
  SELECT alert_id FROM alerts a
  WHERE accepted_at < ledger_now() - make_interval(secs => %(retention)s)
    AND NOT EXISTS (SELECT FROM deliveries d WHERE d.alert_id = a.alert_id)
  ORDER BY accepted_at LIMIT %(limit)s)"""

_PRUNE_NOTES: Final = """
WITH findings_gone AS (
  DELETE FROM findings WHERE finding_id IN (SELECT finding_id FROM findings
    WHERE coalesce(ended_at, found_at) < ledger_now() - make_interval(secs => %(retention)s)
    LIMIT %(limit)s)
), forgiven_gone AS (
  DELETE FROM forgiven WHERE (kind, subject) IN (SELECT kind, subject FROM forgiven
    WHERE at < ledger_now() - make_interval(secs => %(retention)s) LIMIT %(limit)s)
)
DELETE FROM set_aside WHERE key IN (SELECT key FROM set_aside
  WHERE at < ledger_now() - make_interval(secs => %(retention)s) LIMIT %(limit)s)"""


class Pruning:
    """Removes; it raises Transient while Postgres is away or too busy."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def prune(self, retention_seconds: float, limit: int) -> int:
        """Remove the oldest alerts beyond the retention, with all that is known of them, unless
        one of their deliveries is still open; return how many.

        An alert stays until its last delivery is gone, of which each time some are removed.
        """
        terms = {"retention": retention_seconds, "limit": limit}
        terms["deliveries"] = PRUNED_FOR_EACH_LIMIT * limit
        with statements(self._pool) as connection:
            connection.execute(_PRUNE_DELIVERIES, terms)
            removed = connection.execute(_PRUNE, terms).rowcount
            connection.execute(_PRUNE_NOTES, terms)
        return removed
