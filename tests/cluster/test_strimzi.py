"""Kafka by Strimzi's operator: topics as objects, a broker killed, an upgrade; counts exact.

Skipped where the operator is not installed. It must watch the namespace `aldebaran-strimzi`.
`CLUSTER_BROKERS` says how many brokers it is asked for; the rest is as in test_cluster.py.
"""

import os
import uuid
from collections.abc import Iterator

import pytest

from tests.cluster.addons.installing import apply, namespace
from tests.cluster.cells import Cell, Deed
from tests.cluster.conftest import AUDITORS_RUN, BROKERS, auditors, declared, reachable
from tests.cluster.kubectl import Kubectl, run
from tests.cluster.release import HERE
from tests.cluster.report import ClusterReport
from tests.cluster.strimzi import StrimziRelease, missing, values
from tests.cluster.trial import Trial

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(3600)]

NAMESPACE = "aldebaran-strimzi"
TITLE = f"{AUDITORS_RUN}, {BROKERS} of Strimzi's brokers"
MORE = {"alerts": 3, "deliveries.webhook": 2}
"""Partitions that the upgrade asks for."""


@pytest.fixture(scope="module")
def strimzi(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StrimziRelease]:
    """The chart installed with brokers and topics of Strimzi, and a far end beside it."""
    if why := reachable() or missing():
        pytest.skip(f"{why}; docs/cluster-tests.md tells what is needed")
    folder = tmp_path_factory.mktemp("strimzi")
    kubectl = Kubectl(NAMESPACE)
    apply([namespace(NAMESPACE, "restricted")])
    kubectl.say("apply", "-f", str(HERE / "inbox.yaml"))
    files = [*values(folder / "brokers.yaml", BROKERS), declared(folder)]
    release = StrimziRelease(kubectl, folder, files, auditors(), os.environ.get("CLUSTER_TAG", ""))
    release.install()
    yield release
    if not os.environ.get("CLUSTER_KEEP"):
        kubectl.say("delete", "statefulsets,deployments", "-l", "app.kubernetes.io/name=aldebaran")
        kubectl.say("delete", "pods", "-l", "app.kubernetes.io/name=aldebaran", "--grace-period=1")
        # While its operator lives: a topic's finalizer would keep the namespace for ever.
        kubectl.say("delete", "kafkatopics", "--all")
        run(("kubectl", "delete", "namespace", NAMESPACE, "--timeout=180s"))


def play(release: StrimziRelease, report: ClusterReport, cell: Cell) -> None:
    outcome = report.played(TITLE, Trial(release, cell, f"k{uuid.uuid4().hex[:8]}"))
    assert outcome.counts.right, outcome.counts


def test_the_charts_own_test_passes(strimzi: StrimziRelease) -> None:
    assert "told by" in strimzi.test()


def test_topics_have_the_partitions_that_values_say(strimzi: StrimziRelease) -> None:
    asked, there = strimzi.topics(), strimzi.partitions()
    assert {name: there.get(name) for name in asked} == asked
    assert asked["alerts"] == 2


def test_every_accepted_over_purchase_alerts_once_though_a_broker_is_killed(
    strimzi: StrimziRelease, cluster_report: ClusterReport
) -> None:
    play(strimzi, cluster_report, Cell(Deed.KILL, "kafka"))


def test_an_upgrade_adds_partitions_and_leaves_what_was_written(
    strimzi: StrimziRelease, cluster_report: ClusterReport
) -> None:
    before = strimzi.received()["bus"]
    strimzi.set += [f"components.lookout.partitions={MORE['alerts']}"]
    strimzi.set += [f"channels.webhook.partitions={MORE['deliveries.webhook']}"]
    strimzi.install()
    strimzi.wait_for(lambda: strimzi.partitions().items() >= MORE.items(), "the topics do not grow")
    assert before
    assert strimzi.received()["bus"] >= before
    play(strimzi, cluster_report, Cell(Deed.NONE))
