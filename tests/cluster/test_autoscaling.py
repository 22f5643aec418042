"""Autoscalers on a real cluster: work grows, a pod comes, work shrinks, it goes; counts exact.

`make cluster-addons ADDONS="metrics-server keda"` installs what they need. `CLUSTER_ONLY` picks
parts by their name; the others of CLUSTER_* are those of test_cluster.py.
"""

import os
import re
import uuid
from collections.abc import Iterator

import pytest

from services.machine.problems import MachineProblem
from tests.cluster.cells import Cell, Deed
from tests.cluster.conftest import RUNS
from tests.cluster.growth import ADDON, GROWTHS, Growth
from tests.cluster.kubectl import run
from tests.cluster.release import Release
from tests.cluster.report import ClusterReport
from tests.cluster.trial import Trial

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(1800)]

ONLY = re.compile(os.environ.get("CLUSTER_ONLY", ""))


def served(api: str) -> bool:
    """Tell whether the API server has an API of an add-on."""
    path = 'jsonpath={.status.conditions[?(@.type=="Available")].status}'
    try:
        return run(("kubectl", "get", "apiservice", api, "-o", path)) == "True"
    except MachineProblem:
        return False


@pytest.fixture(scope="module")
def grown(release: Release) -> Iterator[dict[str, Growth]]:
    """All parts that can be scaled here, by name, and the release told to have them scaled."""
    found = {name: each for name, each in GROWTHS.items() if ONLY.search(name) and served(each.api)}
    before = list(release.set)
    release.set += [value for each in found.values() for value in each.values]
    release.install()
    yield found
    release.set = before
    release.install()


@pytest.mark.parametrize("part", [name for name in GROWTHS if ONLY.search(name)])
def test_an_autoscaler_adds_a_pod_and_takes_it_away_and_nothing_is_lost(
    part: str, grown: dict[str, Growth], release: Release, cluster_report: ClusterReport
) -> None:
    if part not in grown:
        addon = ADDON[GROWTHS[part].api]
        pytest.skip(f'{addon} is not installed: `make cluster-addons ADDONS="{addon}"`')
    trial = Trial(release, Cell(Deed.GROW, part), f"k{uuid.uuid4().hex[:8]}")
    outcome = cluster_report.played(RUNS, trial)
    assert outcome.counts.right, outcome.counts
