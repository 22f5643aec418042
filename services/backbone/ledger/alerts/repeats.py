"""How many copies of an alert were dropped, by the auditor that sent them.

Written many at once and some time after, and no disk is waited for: nothing depends on it but the
answer to a person's question.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from services.backbone.ledger.database import Pool, transaction

# Rows are locked in one sequence, so that two lookouts never wait for each other in a ring; the
# alerts first, so that one that is pruned at this moment is left out and refuses no others.
_ADD: Final = """
WITH quick AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
INSERT INTO alert_repeats (alert_id, auditor, copies)
SELECT alert_id, auditor, copies
FROM unnest(%s::text[], %s::text[], %s::bigint[]) AS dropped (alert_id, auditor, copies)
  JOIN alerts USING (alert_id), quick
ORDER BY alert_id, auditor
FOR KEY SHARE OF alerts
ON CONFLICT (alert_id, auditor) DO UPDATE
SET copies = alert_repeats.copies + excluded.copies, last_at = ledger_now()"""


@dataclass(frozen=True)
class RepeatsBook:
    """Adds counts of dropped copies to the ledger."""

    pool: Pool

    def add(self, copies: Mapping[tuple[str, str], int]) -> None:
        """Add copies by alert id and auditor; an alert that is not recorded is left out.

        Raises:
            Transient: Postgres is away.
        """
        columns = (
            [alert_id for alert_id, _ in copies],
            [auditor for _, auditor in copies],
            list(copies.values()),
        )
        with transaction(self.pool) as connection:
            connection.execute(_ADD, columns)
