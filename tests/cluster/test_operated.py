"""Postgres by CloudNativePG's operator: programs find it, and a new primary forgets nothing.

Skipped where the operator is not there: `make cluster-addons ADDONS=cloudnative-pg` brings it. The
release is one of its own, in a namespace of its own, with two servers of Postgres.
"""

import uuid
from collections.abc import Iterator
from typing import Any, Final

import pytest
import yaml

from tests.cluster.cells import Cell, Deed
from tests.cluster.conftest import KEEP, RUNS, auditors, declared, reachable, settled_in
from tests.cluster.kubectl import knows
from tests.cluster.operated import CLUSTER, OperatedRelease
from tests.cluster.release import HERE
from tests.cluster.report import ClusterReport
from tests.cluster.trial import Trial

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(3600)]

NAMESPACE: Final = "aldebaran-operated"
OPERATOR: Final[dict[str, Any]] = {
    "instances": 2,
    "image": "aldebaran/postgres:15",
    "storage": {"size": "1Gi"},
    "resources": {"requests": {"cpu": "60m", "memory": "128Mi"}, "limits": {"memory": "768Mi"}},
}


@pytest.fixture(scope="module")
def operated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OperatedRelease]:
    """The chart installed with a ledger by the operator, all ready."""
    if why := reachable() or unserved():
        pytest.skip(f"{why}; docs/kubernetes.md tells what is needed")
    folder = tmp_path_factory.mktemp("operated")
    kubectl = settled_in(NAMESPACE)
    values = folder / "postgres.yaml"
    chosen = {"postgres": {"mode": "operator", "operator": OPERATOR}}
    values.write_text(yaml.safe_dump(chosen), "utf-8")
    files = [HERE / "values.yaml", declared(folder), values]
    release = OperatedRelease(kubectl, folder, files, auditors())
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


def test_two_servers_have_what_was_committed(operated: OperatedRelease) -> None:
    """The ledger is migrated, by its owner, and its other server is waited for at each commit."""
    assert operated.ask("SELECT current_user, pg_is_in_recovery()") == [("aldebaran", False)]
    ((names,),) = operated.ask("SHOW synchronous_standby_names")
    assert names.startswith("ANY 1 ("), names


def test_a_new_primary_takes_over_and_every_over_purchase_alerts_once(
    operated: OperatedRelease, cluster_report: ClusterReport
) -> None:
    before = operated.cluster()["status"]["currentPrimary"]
    outcome = Trial(operated, Cell(Deed.KILL, "postgres"), f"k{uuid.uuid4().hex[:8]}").play()
    assert operated.cluster()["status"]["currentPrimary"] != before
    cluster_report.add(f"{RUNS}, two Postgres by CloudNativePG", outcome)
    assert outcome.counts.right, outcome
