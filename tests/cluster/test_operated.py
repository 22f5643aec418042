"""Postgres by CloudNativePG's operator: programs find it, and a new primary forgets nothing.

Skipped where the operator is not there: `make cluster-addons ADDONS=cloudnative-pg` brings it. The
release is one of its own, in a namespace of its own, with two servers of Postgres; where whole
nodes can be lost (nodes.py), with three.
"""

import uuid
from collections.abc import Iterator
from typing import Any, Final

import pytest
import yaml

from tests.cluster.cells import Cell, Deed
from tests.cluster.conftest import BROKERS, KEEP, RUNS, files, reachable, settled_in, told
from tests.cluster.kubectl import knows
from tests.cluster.nodes import LEDGER, PROGRAM, spared
from tests.cluster.operated import CLUSTER, OperatedRelease
from tests.cluster.report import ClusterReport
from tests.cluster.trial import Trial

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(3600)]

NAMESPACE: Final = "aldebaran-operated"
SERVERS: Final = 3 if PROGRAM else 2
OPERATOR: Final[dict[str, Any]] = {
    "instances": SERVERS,
    "image": "aldebaran/postgres:15",
    "storage": {"size": "1Gi"},
    "resources": {"requests": {"cpu": "60m", "memory": "128Mi"}, "limits": {"memory": "768Mi"}},
}


@pytest.fixture(scope="module")
def operated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OperatedRelease]:
    """The chart installed with a ledger by the operator, all ready."""
    if why := reachable() or unserved():
        pytest.skip(f"{why}; docs/cluster-tests.md tells what is needed")
    folder = tmp_path_factory.mktemp("operated")
    kubectl = settled_in(NAMESPACE)
    values = folder / "postgres.yaml"
    chosen = {"postgres": {"mode": "operator", "operator": OPERATOR}}
    values.write_text(yaml.safe_dump(chosen), "utf-8")
    release = OperatedRelease(kubectl, folder, [*files(folder), values], told())
    release.install()
    yield release
    if not KEEP:
        kubectl.say("delete", "cluster", CLUSTER, "--timeout=120s")
        release.remove()


def unserved() -> str | None:
    """Say that nobody makes Postgres' servers here, or None."""
    if knows("clusters.postgresql.cnpg.io"):
        return None
    return "no CloudNativePG: make cluster-addons ADDONS=cloudnative-pg"


def test_a_trade_is_told(operated: OperatedRelease) -> None:
    assert "told by" in operated.test()


def test_another_server_has_what_was_committed(operated: OperatedRelease) -> None:
    """The ledger is migrated, by its owner, and another server is waited for at each commit."""
    assert operated.ask("SELECT current_user, pg_is_in_recovery()") == [("aldebaran", False)]
    ((names,),) = operated.ask("SHOW synchronous_standby_names")
    assert names.startswith("ANY 1 ("), names


def test_a_new_primary_takes_over_and_every_over_purchase_alerts_once(
    operated: OperatedRelease, cluster_report: ClusterReport
) -> None:
    takes_over(operated, cluster_report, Cell(Deed.KILL, "postgres"))


def test_it_takes_over_where_the_primarys_node_is_lost(
    operated: OperatedRelease, cluster_report: ClusterReport
) -> None:
    if why := spared(BROKERS):
        pytest.skip(why)
    takes_over(operated, cluster_report, Cell(Deed.NODE_RESTARTS, LEDGER))


def takes_over(release: OperatedRelease, report: ClusterReport, cell: Cell) -> None:
    before = release.cluster()["status"]["currentPrimary"]
    how_many = {2: "two", 3: "three"}[SERVERS]
    trial = Trial(release, cell, f"k{uuid.uuid4().hex[:8]}")
    outcome = report.played(f"{RUNS}, {how_many} Postgres by CloudNativePG", trial)
    assert release.cluster()["status"]["currentPrimary"] != before
    assert outcome.counts.right, outcome
