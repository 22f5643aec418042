"""Counts of dropped copies are added to alerts that are there, and nothing else stops them."""

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from services.backbone.ledger.alerts.repeats import RepeatsBook
from services.backbone.ledger.database import Pool
from tests.integration.lookout.later_rows import record, rows
from tests.integration.lookout.processes import eventually
from tests.unit.lookout.samples import sample

pytestmark = pytest.mark.postgres

WAITS_FOR_A_LOCK = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND wait_event_type = 'Lock'
"""
COUNTED = "SELECT alert_id, copies FROM alert_repeats"


def test_an_alert_that_is_pruned_at_this_moment_is_left_out(pool: Pool, ledger_url: str) -> None:
    kept, pruned = sample(0), sample(1)
    record(pool, kept)
    record(pool, pruned)
    copies = {(each.alert_id, "a"): 2 for each in (kept, pruned)}
    with psycopg.connect(ledger_url) as pruner, ThreadPoolExecutor(1) as lookout:
        pruner.execute("DELETE FROM alerts WHERE alert_id = %s", (pruned.alert_id,))
        adding = lookout.submit(RepeatsBook(pool).add, copies)
        eventually(lambda: rows(ledger_url, WAITS_FOR_A_LOCK) == [(1,)], "it did not wait")
        pruner.commit()
        adding.result()
    assert rows(ledger_url, COUNTED) == [(kept.alert_id, 2)]
