"""Two auditors under a steady load, one killed with -9: nothing is missing, and none comes twice.

The lookout and its ledger are the real ones, as it is there that the first of two copies wins.
"""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.integration.auditor.pairs import Load, Pair, Raised
from tests.integration.auditor.running import Place, wait_for
from tests.integration.lookout.processes import Lookouts

pytestmark = [pytest.mark.kafka, pytest.mark.postgres, pytest.mark.spark, pytest.mark.timeout(600)]


@pytest.fixture
def pair(place: Place) -> Iterator[Pair]:
    place.declare("over-purchase")
    pair = Pair(place)
    yield pair
    pair.close()


@pytest.fixture
def lookouts(kafka_bootstrap: str, ledger_url: str, tmp_path: Path) -> Iterator[Lookouts]:
    lookouts = Lookouts(kafka_bootstrap, ledger_url, tmp_path)
    yield lookouts
    lookouts.close()


def test_a_killed_auditor_costs_nothing(pair: Pair, lookouts: Lookouts, ledger_url: str) -> None:
    for name in "ab":
        pair.start(name)
    lookouts.start()
    for each in pair.running.values():
        each.wait_until_ready()
    raised, load = Raised(pair), Load(pair.place)
    wait_for("both are staggered", lambda: all(pair.staggered(name) for name in "ab"))
    wait_for("both raise", lambda: all(raised.read().values()))
    pair.running["b"].kill()
    killed_at = len(load.sent)
    alone = set(load.sent) | {f"order-{killed_at + more}" for more in range(20)}
    wait_for("the other raises all", lambda: alone <= raised.read()["a"])
    pair.start("b").wait_until_ready()
    wait_for("it is staggered again", lambda: pair.staggered("b"))
    orders = load.end()
    wait_for("it has caught up", lambda: all(orders == each for each in raised.read().values()))
    wait_for("the ledger has all", lambda: recorded(ledger_url, raised) >= len(orders))
    assert recorded(ledger_url, raised) == len(orders)


def recorded(ledger_url: str, raised: Raised) -> int:
    """Return how many alerts the lookout has taken of this pair; topic `alerts` is everybody's."""
    with psycopg.connect(ledger_url) as connection:
        rows = connection.execute(
            "SELECT count(*), count(DISTINCT record->'key'->>'order_id') FROM alerts"
            " WHERE record->>'auditor' = ANY(%s)",
            (list(raised.names),),
        ).fetchall()
    count, distinct = rows[0]
    assert count == distinct
    return int(count)
