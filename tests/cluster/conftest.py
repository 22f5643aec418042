"""The release that the cluster's tests are played on, and their report."""

import json
import os
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from services.contracts.watches import SHIPPED_WATCHES
from services.lookout.settings import SHIPPED_ROUTES
from services.machine.problems import MachineProblem
from tests.chaos.facts import load, machine
from tests.cluster.kubectl import Kubectl, Object, run
from tests.cluster.nodes import PROGRAM, first
from tests.cluster.release import HERE, NAME, PAGES_PORT, Release
from tests.cluster.report import ClusterReport
from tests.integration.s3 import BUCKET, S3Server

RUNNER = os.environ.get("CLUSTER_RUNNER", "local")
KEEP = bool(os.environ.get("CLUSTER_KEEP"))
IN_STORE = bool(os.environ.get("CLUSTER_STORE"))
EXECUTORS = os.environ.get("CLUSTER_EXECUTORS", "")
BROKERS = int(os.environ.get("CLUSTER_BROKERS", "1"))
AUDITORS_RUN = (
    RUNNER
    + (f", executors of each auditor {EXECUTORS}" if EXECUTORS else "")
    + (", checkpoints in a store" if IN_STORE else "")
)
"""How the auditors run, as the report tells it."""
RUNS = AUDITORS_RUN + (f", {BROKERS} brokers" if BROKERS > 1 else "")
"""The same, with what else is not as in most runs."""
NAMESPACE = os.environ.get("CLUSTER_NAMESPACE", "aldebaran-test")
SLOTS = 5
"""What each of the shipped watches needs at once."""


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
    shipped = {path.stem: path for path in sorted(SHIPPED_WATCHES.glob("*.yaml"))}
    named = os.environ.get("CLUSTER_WATCHES", "").split() or list(shipped)
    if unknown := sorted(set(named) - shipped.keys()):
        raise pytest.UsageError(f"CLUSTER_WATCHES: no {unknown}; shipped are {list(shipped)}")
    return [shipped[name] for name in named]


def auditors() -> list[str]:
    """Return how the auditors run, as values; all executors together have the watches' slots.

    `CLUSTER_SET` is further values, with spaces between them.
    """
    slots = SLOTS * len(watches())
    count = int(EXECUTORS or len(watches()))
    executors = {"count": count, "cores": -(-slots // count)}
    told = [f"auditor.executors.{name}={value}" for name, value in executors.items()]
    return [f"auditor.runner={RUNNER}", *told, *os.environ.get("CLUSTER_SET", "").split()]


def files(folder: Path) -> list[Path]:
    """Return the values' files of a release with brokers of its own."""
    several = [HERE / "nodes.yaml"] if PROGRAM else []
    return [HERE / "values.yaml", declared(folder), *several]


def told() -> list[str]:
    """Return its single values."""
    return [*auditors(), f"kafka.embedded.replicas={BROKERS}"]


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
def store(
    tmp_path_factory: pytest.TempPathFactory, aldebaran_tools: Path
) -> Iterator[S3Server | None]:
    """A server of S3 on this machine, if checkpoints are to lie in one."""
    if why := reachable():
        pytest.skip(f"{why}; docs/cluster-tests.md tells what is needed")
    if not IN_STORE:
        yield None
        return
    server = S3Server(tmp_path_factory.mktemp("store"), aldebaran_tools, address_for_pods())
    server.start()
    yield server
    server.kill()


def address_for_pods() -> str:
    """Return this machine's address on the way to the cluster's first node."""
    path = 'jsonpath={.status.addresses[?(@.type=="InternalIP")].address}'
    node = run(("kubectl", "get", "node", first(), "-o", path))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        asked.connect((node, 9))  # no packet leaves: only the route is looked up
        return str(asked.getsockname()[0])


def in_store(store: S3Server, written: Path) -> Path:
    """Write the values by which checkpoints lie in the store."""
    tests_own = yaml.safe_load((HERE / "values.yaml").read_text("utf-8"))["networkPolicy"]
    values = {
        "auditor": {
            "checkpoints": {"store": f"s3a://{BUCKET}/checkpoints", "sharedNode": False},
            "settings": {"s3_options": json.dumps(store.options)},
        },
        "networkPolicy": {"outsidePorts": [*tests_own["outsidePorts"], store.port]},
    }
    written.write_text(yaml.safe_dump(values), "utf-8")
    return written


@pytest.fixture(scope="session")
def release(tmp_path_factory: pytest.TempPathFactory, store: S3Server | None) -> Iterator[Release]:
    """The chart installed and ready, with a far end beside it."""
    folder = tmp_path_factory.mktemp("cluster")
    kubectl = settled_in(NAMESPACE)
    values = files(folder)
    values += [in_store(store, folder / "store.yaml")] if store else []
    release = Release(kubectl, folder, values, told(), os.environ.get("CLUSTER_TAG", ""))
    release.install()
    yield release
    if not KEEP:
        release.remove()


def settled_in(namespace: str) -> Kubectl:
    """Make a namespace for a release, with a far end beside it."""
    kubectl = Kubectl(namespace)
    kubectl.make_namespace()
    kubectl.say("apply", "-f", "-", given=far_end((HERE / "inbox.yaml").read_text("utf-8")))
    kubectl.say("apply", "-f", "-", given=json.dumps(_counting(address_for_pods())))
    return kubectl


def far_end(text: str) -> str:
    """Return the far end's objects; where nodes are lost, on the one that is not."""
    objects = list(yaml.safe_load_all(text))
    if PROGRAM:
        objects[-1]["spec"]["template"]["spec"]["nodeName"] = first()
    return yaml.safe_dump_all(objects)


def _counting(machine: str) -> Object:
    """Where policies bite, this machine may ask the ledger and the pages all the same."""
    ports = [{"port": 5432}, {"port": PAGES_PORT}]
    spec = {
        "podSelector": {"matchLabels": {"app.kubernetes.io/instance": NAME}},
        "policyTypes": ["Ingress"],
        "ingress": [{"from": [{"ipBlock": {"cidr": f"{machine}/32"}}], "ports": ports}],
    }
    kind = {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy"}
    return {**kind, "metadata": {"name": "tests-count"}, "spec": spec}


@pytest.fixture(scope="session")
def cluster_report() -> Iterator[ClusterReport]:
    """The cells of this run beside those of earlier ones; written after each."""
    named = os.environ.get("CLUSTER_REPORT")
    report = ClusterReport.open(Path(named) if named else None)
    report.facts["machine"] = (
        f"{machine()}; one node if it is not told; all programs, stores and the load share it"
    )
    report.facts[f"load before the last run with auditor.runner {RUNS}"] = load()
    yield report
    report.write()
