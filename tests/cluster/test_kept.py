"""What cannot change in an install that runs: refused by the real API server's word, unchanged.

The release's pods find no node, so that nothing but its objects is there.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from services.machine.problems import MachineProblem
from tests.cluster.conftest import reachable
from tests.cluster.kubectl import Kubectl, run, until
from tests.cluster.release import CHART, NAME

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(1200)]

KUBECTL = Kubectl("aldebaran-kept")
NOWHERE = {"nodeSelector": {"aldebaran.test/none": "none"}}
PODLESS = {
    "default": NOWHERE,
    "auditor": NOWHERE,
    "archivist": {"enabled": True, **NOWHERE},
    "kafka": {"embedded": NOWHERE},
    "postgres": {"embedded": NOWHERE},
}
VOLUMES = 5
"""Of the broker, Postgres, the archivist and both auditors."""
VOLUMES_TIMEOUT_SECONDS = 120.0
AUDITORS = ("aldebaran-auditor-a", "aldebaran-auditor-b")
ORPHANED = ("delete", "statefulset", *AUDITORS, "--cascade=orphan")
GONE = ("delete", "pvc", *(f"checkpoints-{each}-0" for each in AUDITORS), "--wait=false")
REFUSED = {
    "kafka.embedded.storage.size=11Gi": (
        "kafka.embedded.storage.size is 11Gi, and StatefulSet aldebaran-kafka was made with 10Gi",
        "kubectl -n aldebaran-kept patch pvc data-aldebaran-kafka-0",
        "kubectl -n aldebaran-kept delete statefulset aldebaran-kafka --cascade=orphan",
    ),
    "postgres.embedded.storage.size=9Gi": (
        "StatefulSet aldebaran-postgres was made with 10Gi",
        "patch pvc data-aldebaran-postgres-0",
    ),
    "archivist.storage.size=1Ti": (
        "StatefulSet aldebaran-archivist was made with 20Gi",
        "patch pvc archive-aldebaran-archivist-0",
    ),
    "auditor.checkpoints.size=6Gi": (
        "StatefulSet aldebaran-auditor-a was made with 5Gi",
        "patch pvc checkpoints-aldebaran-auditor-a-0",
    ),
    "auditor.checkpoints.accessModes={ReadWriteMany}": (
        'auditor.checkpoints.accessModes is ["ReadWriteMany"]',
        'was made with ["ReadWriteOnce"]',
        f"kubectl -n aldebaran-kept {' '.join(ORPHANED)} (",
        f"kubectl -n aldebaran-kept {' '.join(GONE)} (",
    ),
    "kafka.embedded.replicas=3": (
        "kafka.embedded.replicas is 3, and this release was installed with 1",
        "bring brokers of your own",
    ),
    "postgres.mode=external,postgres.existingSecret=ledger": (
        "postgres.mode is external, and StatefulSet aldebaran-postgres is there",
        "kubectl -n aldebaran-kept delete statefulset aldebaran-postgres (its volumes stay)",
    ),
    "kafka.mode=external,kafka.bootstrapServers=kafka.example.com:9092": (
        "kafka.mode is external, and StatefulSet aldebaran-kafka is there",
        "kubectl -n aldebaran-kept delete statefulset aldebaran-kafka (its volumes stay)",
    ),
    "auditor.shufflePartitions=3": (
        'auditor.shufflePartitions is "3", and auditor b runs with "2"',
        "kubectl -n aldebaran-kept delete pod aldebaran-auditor-b-0",
    ),
}


def upgrade(folder: Path, *pairs: str) -> None:
    """Install or upgrade the release, with further values.

    Raises:
        MachineProblem: it is refused; the message says why.
    """
    values = folder / "podless.yaml"
    values.write_text(yaml.safe_dump(PODLESS), "utf-8")
    told = [text for pair in pairs for text in ("--set", pair)]
    command = ("helm", "-n", KUBECTL.namespace, "upgrade", "--install", NAME, str(CHART))
    run((*command, "-f", str(values), *told))


def state() -> dict[str, object]:
    """Return what the namespace's objects are to be, and how often the release was upgraded."""
    kinds = "statefulsets,deployments,pvc,services,configmaps,secrets,networkpolicies"
    found = json.loads(KUBECTL.say("get", kinds, "-o", "json"))["items"]
    return {
        f"{each['kind']} {each['metadata']['name']}": (
            each["metadata"]["uid"],
            each.get("spec", each.get("data")),
        )
        for each in found
    }


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of the release's values; the release has its sets and volumes, and no pod runs."""
    if why := reachable():
        pytest.skip(f"{why}; docs/cluster-tests.md tells what is needed")
    folder = tmp_path_factory.mktemp("kept")
    KUBECTL.make_namespace()
    try:
        upgrade(folder)
        until(
            lambda: len(KUBECTL.get("pvc")) == VOLUMES,
            VOLUMES_TIMEOUT_SECONDS,
            lambda: f"not {VOLUMES} volumes are asked for",
        )
        yield folder
    finally:
        run(("kubectl", "delete", "namespace", KUBECTL.namespace, "--timeout=120s"))


@pytest.mark.parametrize("change", REFUSED)
def test_a_change_that_cannot_be_is_refused_with_what_to_do(installed: Path, change: str) -> None:
    before = state()
    with pytest.raises(MachineProblem) as refused:
        upgrade(installed, change)
    for said in REFUSED[change]:
        assert said in str(refused.value)
    assert state() == before


def test_another_spelling_of_the_same_size_is_no_change(installed: Path) -> None:
    upgrade(installed, "kafka.embedded.storage.size=10240Mi", "auditor.checkpoints.size=5120Mi")


def test_what_the_refusal_says_lets_checkpoints_have_other_access_modes(installed: Path) -> None:
    for command in (ORPHANED, GONE):
        KUBECTL.say(*command)
    until(
        lambda: len(KUBECTL.get("pvc")) == VOLUMES - len(AUDITORS),
        VOLUMES_TIMEOUT_SECONDS,
        lambda: "the claims of checkpoints do not go",
    )
    upgrade(installed, "auditor.checkpoints.accessModes={ReadWriteMany}")
    sets = KUBECTL.get("statefulsets", "app.kubernetes.io/instance=aldebaran")
    modes = {
        each["metadata"]["name"]: each["spec"]["volumeClaimTemplates"][0]["spec"]["accessModes"]
        for each in sets
        if each["metadata"]["name"] in AUDITORS
    }
    assert modes == {name: ["ReadWriteMany"] for name in AUDITORS}
