"""Auditors that a Spark operator starts: tried, killed, given another image; counts exact.

`CLUSTER_RUNNER=kubeflow` or `apache` runs it, and that operator must be there:
docs/spark-operators.md tells how.
"""

import uuid

import pytest

from tests.cluster.cells import Cell, Deed
from tests.cluster.conftest import RUNNER, RUNS, reachable
from tests.cluster.drivers import OPERATORS
from tests.cluster.kubectl import knows
from tests.cluster.release import Release
from tests.cluster.report import ClusterReport
from tests.cluster.trial import Trial

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(3600)]

KILLED = (
    Cell(Deed.KILL, "auditor-a"),
    Cell(Deed.KILL, "auditor-b"),
    Cell(Deed.KILL, "executor", "aldebaran/auditor=a"),
)


@pytest.fixture(autouse=True, scope="session")
def operator() -> None:
    """The operator is there, and is what this run is about."""
    if RUNNER not in OPERATORS:
        pytest.skip(f"the auditors run by {RUNNER}; CLUSTER_RUNNER={' or '.join(OPERATORS)}")
    if why := reachable():
        pytest.skip(f"{why}; docs/cluster-tests.md tells what is needed")
    if not knows(OPERATORS[RUNNER].kind):
        why = f"make cluster-addons ADDONS={OPERATORS[RUNNER].addon} LOAD=…"
        pytest.skip(f"the cluster knows no {OPERATORS[RUNNER].kind}; {why}")


def drivers(release: Release) -> dict[str, str]:
    """Return which pod is each auditor's driver, by the auditor's id."""
    pods = [pod for part in ("auditor-a", "auditor-b") for pod in release.pods(part)]
    assert {pod["metadata"]["labels"]["spark-role"] for pod in pods} == {"driver"}
    return {
        pod["metadata"]["labels"]["aldebaran/auditor"]: str(pod["metadata"]["uid"]) for pod in pods
    }


def play(release: Release, report: ClusterReport, cell: Cell) -> None:
    """Play a cell, whose counts must be exact."""
    outcome = report.played(RUNS, Trial(release, cell, f"k{uuid.uuid4().hex[:8]}"))
    assert outcome.counts.right, outcome


def test_a_trade_leads_to_its_alert(release: Release) -> None:
    assert "told by" in release.test()


def test_a_part_is_its_driver_and_executors_are_a_part_of_their_own(release: Release) -> None:
    assert set(drivers(release)) == {"a", "b"}
    executors = [pod["metadata"]["labels"] for pod in release.pods("executor")]
    assert {each["aldebaran/auditor"] for each in executors} == {"a", "b"}


@pytest.mark.parametrize("cell", KILLED, ids=lambda cell: cell.title)
def test_the_operator_brings_back_what_is_killed(
    release: Release, cluster_report: ClusterReport, cell: Cell
) -> None:
    before = drivers(release)
    play(release, cluster_report, cell)
    replaced = {name for name, uid in drivers(release).items() if uid != before[name]}
    assert replaced == {cell.to.removeprefix("auditor-")} - {"executor"}


def test_another_image_replaces_both_drivers_and_nothing_is_lost(
    release: Release, cluster_report: ClusterReport
) -> None:
    before = drivers(release)
    play(release, cluster_report, Cell(Deed.UPGRADE, "of both images"))
    after = drivers(release)
    assert not set(before.values()) & set(after.values())
    play(release, cluster_report, Cell(Deed.ROLL_BACK))
    assert not set(after.values()) & set(drivers(release).values())
