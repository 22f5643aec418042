"""The release that the cluster's tests are played on, and their report."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from services.lookout.settings import SHIPPED_ROUTES
from services.machine.problems import MachineProblem
from tests.chaos.facts import load, machine
from tests.cluster.kubectl import Kubectl, run
from tests.cluster.release import HERE, Release
from tests.cluster.report import ClusterReport

RUNNER = os.environ.get("CLUSTER_RUNNER", "local")
KEEP = bool(os.environ.get("CLUSTER_KEEP"))
NAMESPACE = "aldebaran-test"
WATCHES = HERE.parents[1] / "spark-apps" / "auditor" / "watches"


def declared(folder: Path) -> Path:
    """Write the shipped routes and watches as values, so that tests can change them."""
    texts = {
        "routes": {"routes.yaml": SHIPPED_ROUTES.read_text("utf-8")},
        "watches": {path.name: path.read_text("utf-8") for path in watches()},
    }
    written = folder / "declared.yaml"
    written.write_text(yaml.safe_dump(texts), "utf-8")
    return written


def watches() -> list[Path]:
    """Return the shipped watches that `CLUSTER_WATCHES` names, all where it names none."""
    shipped = {path.stem: path for path in sorted(WATCHES.glob("*.yaml"))}
    named = os.environ.get("CLUSTER_WATCHES", "").split() or list(shipped)
    if unknown := sorted(set(named) - shipped.keys()):
        raise pytest.UsageError(f"CLUSTER_WATCHES: no {unknown}; shipped are {list(shipped)}")
    return [shipped[name] for name in named]


def reachable() -> str | None:
    """Say why there is no cluster to test on, or None."""
    for tool in ("kubectl", "helm"):
        if shutil.which(tool) is None:
            return f"{tool} is not on the PATH"
    try:
        run(("kubectl", "get", "nodes", "--request-timeout=5s"))
    except MachineProblem as problem:
        return f"no cluster answers: {problem}"
    return None


@pytest.fixture(scope="session")
def release(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Release]:
    """The chart installed and ready, with a far end beside it."""
    if why := reachable():
        pytest.skip(f"{why}; docs/kubernetes.md tells what is needed")
    folder = tmp_path_factory.mktemp("cluster")
    kubectl = Kubectl(NAMESPACE)
    run(("kubectl", "apply", "-f", "-"), _namespace())
    kubectl.say("apply", "-f", str(HERE / "inbox.yaml"))
    values = [HERE / "values.yaml", declared(folder)]
    count = len(watches())
    told = [f"auditor.runner={RUNNER}", f"auditor.watches={count}"]
    told.append(f"auditor.executors.count={count}")  # each has the slots of one watch
    release = Release(kubectl, folder, values, told)
    release.install()
    yield release
    if not KEEP:
        # The second auditor would wait minutes for the first; the next run needs the name.
        kubectl.say("delete", "statefulsets,deployments", "--all")
        kubectl.say("delete", "pods", "--all", "--force", "--grace-period=0")
        run(("kubectl", "delete", "namespace", NAMESPACE, "--timeout=120s"))


def _namespace() -> str:
    """Every pod must keep the strictest of Kubernetes' standards for pods."""
    label = {"pod-security.kubernetes.io/enforce": "restricted"}
    metadata = {"name": NAMESPACE, "labels": label}
    return json.dumps({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})


@pytest.fixture(scope="session")
def cluster_report() -> Iterator[ClusterReport]:
    """The cells of this run beside those of earlier ones; written after each."""
    named = os.environ.get("CLUSTER_REPORT")
    report = ClusterReport.open(Path(named) if named else None)
    report.facts["machine"] = f"{machine()}; one node; all programs, stores and the load share it"
    report.facts[f"load before the last run with auditor.runner {RUNNER}"] = load()
    yield report
    report.write()
