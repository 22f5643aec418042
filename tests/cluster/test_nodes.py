"""Whole nodes restarted, lost, cut off and drained under load; counts exact.

`CLUSTER_NODES` names the program that does it (nodes.py); there must be three nodes beside the
first, and `CLUSTER_BROKERS=3`. `CLUSTER_ONLY` picks cells by their title.
"""

import itertools
import os
import re
import uuid

import pytest

from tests.cluster.cells import Cell
from tests.cluster.conftest import BROKERS, RUNS, reachable
from tests.cluster.nodes import HOLDERS, NODE_DEEDS, WORKERS, spared
from tests.cluster.release import Release
from tests.cluster.report import ClusterReport
from tests.cluster.trial import Trial

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(1800)]

ONLY = re.compile(os.environ.get("CLUSTER_ONLY", ""))
CELLS = [Cell(*each) for each in itertools.product(NODE_DEEDS, HOLDERS)]


@pytest.fixture(autouse=True)
def nodes_can_be_lost() -> None:
    if why := spared(BROKERS) or reachable():
        pytest.skip(why)


@pytest.mark.parametrize("cell", [cell for cell in CELLS if ONLY.search(cell.title)], ids=str)
def test_whatever_happens_to_a_node_every_over_purchase_alerts_once(
    cell: Cell, release: Release, cluster_report: ClusterReport
) -> None:
    trial = Trial(release, cell, f"k{uuid.uuid4().hex[:8]}")
    outcome = cluster_report.played(f"{RUNS}, {WORKERS} nodes", trial)
    assert outcome.counts.right, outcome.counts
