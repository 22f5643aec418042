"""NetworkPolicies where a network enforces them: what the chart names is reached, the rest is not.

Where nothing enforces them the tests are skipped: `make cluster-addons ADDONS=kube-router` brings
what does, and `python -m tests.cluster.addons remove kube-router` takes it away. Each address that
may not be reached by one is reached by another in the same table, so that nothing counts as shut
that was only not there.
"""

import json
import uuid
from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest
import yaml

from services.machine.problems import MachineProblem
from tests.cluster.callers import Caller, bystander
from tests.cluster.cells import Cell, Deed
from tests.cluster.conftest import RUNNER, RUNS
from tests.cluster.kubectl import Kubectl, run, until
from tests.cluster.release import HERE, PAGES_PORT, Release, address
from tests.cluster.report import ClusterReport
from tests.cluster.trial import Trial

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(3600)]

STRANGERS: Final = "aldebaran-strangers"
WATCHERS: Final = "aldebaran-watchers"
"""The one namespace that may ask for metrics, as Prometheus' would be."""
TAKES_HOLD_SECONDS: Final = 60.0
DRIVER_PORTS: Final = (7078, 7079)
MORE_PARTS: Final[Mapping[str, Any]] = {
    "components": {"callbacks": {"enabled": True, "replicas": 1}},
    "archivist": {"enabled": True, "resources": {"requests": {"cpu": "30m", "memory": "256Mi"}}},
}
"""Parts with ways of their own, which the other tests of a cluster leave out."""

KAFKA: Final = {"kafka:9092"}
LEDGER: Final = {"postgres:5432"}
PROVIDER: Final = {"far-end:8090"}
METRICS: Final = {
    f"{part}:{PAGES_PORT}"
    for part in (
        *("gateway", "lookout", "heartbeat", "deliverer-webhook", "auditor-a"),
        *("callbacks", "archivist"),
    )
}
DRIVER: Final = {f"auditor-a:{port}" for port in DRIVER_PORTS}
RELEASE: Final = {
    *(*KAFKA, *LEDGER, "gateway:8080", "lookout:8080", "auditor-a:8080"),
    *("callbacks:8080", "callbacks:8094"),
}
"""What a part that may reach all pods of the release finds open: not pages for metrics alone."""
PUBLIC: Final = {"gateway:8080", "callbacks:8094"}
ADDRESSES: Final = {
    *(*KAFKA, *LEDGER, *METRICS, *PUBLIC, *PROVIDER),
    *("kafka:9093", "far-end:8080", "api:443"),
}

REACHED_BY: Final[Mapping[str, set[str]]] = {
    "gateway": KAFKA,
    "lookout": KAFKA | LEDGER,
    "heartbeat": KAFKA,
    "console": RELEASE,
    "accountant": KAFKA | LEDGER | PROVIDER,
    "rehearsal": KAFKA | LEDGER,
    "deliverer-bus": KAFKA | LEDGER | PROVIDER,
    "deliverer-webhook": KAFKA | LEDGER | PROVIDER,
    "deliverer-email": KAFKA | LEDGER | PROVIDER,
    "auditor-b": RELEASE | PROVIDER,
    "archivist": KAFKA | PROVIDER,
    "callbacks": LEDGER,
    "kafka": set(),
    "postgres": set(),
}
"""What each part of the release may reach, beside itself."""
APART: Final[Mapping[str, set[str]]] = {
    "console": REACHED_BY["console"] | DRIVER,
    "auditor-b": REACHED_BY["auditor-b"] | DRIVER | {"api:443"},
    "executor": RELEASE | PROVIDER | DRIVER,
}
"""What is different where executors are pods."""


DENY_ALL: Final = {
    "apiVersion": "networking.k8s.io/v1",
    "kind": "NetworkPolicy",
    "metadata": {"name": "deny"},
    "spec": {"podSelector": {"matchLabels": {"app": "bystander"}}, "policyTypes": ["Ingress"]},
}


def reaches(caller: Caller, end: str) -> bool:
    """Tell whether a pod reaches an address."""
    return bool(caller.reached([end]))


@pytest.fixture(scope="module")
def outsiders(release: Release) -> Iterator[dict[str, Caller]]:
    """Pods of nobody's: in another namespace, where metrics are asked for, beside the release."""
    places = {"stranger": STRANGERS, "watcher": WATCHERS, "neighbour": release.kubectl.namespace}
    yield {name: bystander(namespace) for name, namespace in places.items()}
    release.kubectl.say("delete", "pod", "bystander", "--wait=false")
    run(("kubectl", "delete", "namespace", STRANGERS, WATCHERS, "--wait=false"))


@pytest.fixture(scope="module")
def enforced(outsiders: dict[str, Caller]) -> None:
    """Skip where a pod that nobody may call is called all the same."""
    kubectl, caller = Kubectl(STRANGERS), outsiders["watcher"]
    end = f"{outsiders['stranger'].address()}:{PAGES_PORT}"
    kubectl.say("delete", "networkpolicy", "--all")
    until(lambda: reaches(caller, end), TAKES_HOLD_SECONDS, lambda: "a bystander is not reached")
    kubectl.say("apply", "-f", "-", given=json.dumps(DENY_ALL))
    try:
        until(lambda: not reaches(caller, end), TAKES_HOLD_SECONDS, lambda: "still reached")
    except MachineProblem:
        pytest.skip(
            "this network enforces no NetworkPolicies: make cluster-addons ADDONS=kube-router"
        )


@pytest.fixture(scope="module")
def walled(release: Release, enforced: None, tmp_path_factory: pytest.TempPathFactory) -> Release:
    """The release where policies bite, with metrics for one namespace."""
    watchers = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": WATCHERS}}}
    own = yaml.safe_load((HERE / "values.yaml").read_text("utf-8"))["networkPolicy"]
    changed = {**MORE_PARTS, "networkPolicy": {**own, "metricsFrom": [watchers]}}
    values = tmp_path_factory.mktemp("walls") / "walls.yaml"
    values.write_text(yaml.safe_dump(changed), "utf-8")
    release.values.append(values)
    release.install()
    return release


def addresses(release: Release) -> dict[str, str]:
    """Return where each of the names in the tables listens, by number."""
    apart = DRIVER if RUNNER == "cluster" else set()
    found = {"api:443": f"{_cluster_ip('default', 'kubernetes')}:443"}
    for name in (ADDRESSES | apart) - found.keys():
        part, port = name.split(":")
        selector = ("app=far-end",) if part == "far-end" else ()
        pods = release.kubectl.get("pods", *selector) if selector else release.pods(part)
        found[name] = f"{address(pods[0])}:{port}"
    return found


def _cluster_ip(namespace: str, service: str) -> str:
    path = "jsonpath={.spec.clusterIP}"
    return Kubectl(namespace).say("get", "service", service, "-o", path)


def wrong(caller: Caller, ends: Mapping[str, str], expected: set[str]) -> dict[str, str]:
    """Return what of the ends is open that should not be, and the other way round."""
    own = f"{caller.address()}:"
    reached = caller.reached(ends.values())
    return {
        name: "is reached" if end in reached else "is not reached"
        for name, end in ends.items()
        if (end in reached) != (name in expected or end.startswith(own))
    }


def holds(release: Release, expected: Mapping[str, tuple[Caller, set[str]]]) -> None:
    """Wait until everybody reaches exactly what was said, as a network takes policies with time."""
    told: dict[str, dict[str, str]] = {}

    def all_as_said() -> bool:
        told.clear()
        ends = addresses(release)
        for name, (caller, names) in expected.items():
            if found := wrong(caller, ends, names):
                told[name] = found
        return not told

    until(all_as_said, TAKES_HOLD_SECONDS, lambda: f"{told}")


def test_each_part_reaches_what_is_named_and_nothing_else(walled: Release) -> None:
    tables = {**REACHED_BY, **(APART if RUNNER == "cluster" else {})}
    pods = {part: walled.pods(part)[0]["metadata"]["name"] for part in tables}
    holds(walled, {part: (Caller(walled.kubectl, pods[part]), tables[part]) for part in tables})


def test_others_reach_public_doors_and_those_who_watch_reach_metrics(
    walled: Release, outsiders: dict[str, Caller]
) -> None:
    # What is no part of the release has no policy of ours.
    free = {*PROVIDER, "far-end:8080", "api:443"}
    reached = {
        "stranger": PUBLIC,
        "neighbour": PUBLIC,
        "watcher": PUBLIC | METRICS,
    }
    holds(walled, {name: (outsiders[name], reached[name] | free) for name in reached})


def test_nobody_reaches_a_console_that_listens_in_its_pod_only(
    walled: Release, outsiders: dict[str, Caller]
) -> None:
    """Where something did listen on its address, too."""
    pod = walled.pods("console")[0]
    console = Caller(walled.kubectl, pod["metadata"]["name"])
    end = f"{address(pod)}:{PAGES_PORT}"
    serve = f"python -m http.server {PAGES_PORT} --bind {address(pod)} --directory /tmp"
    command = f"PATH=/opt/aldebaran/venv/bin:$PATH; nohup {serve} >/dev/null 2>&1 &"
    walled.kubectl.say("exec", console.pod, "--", "bash", "-c", command)
    until(lambda: reaches(console, end), TAKES_HOLD_SECONDS, lambda: "nothing listens")
    auditor = Caller(walled.kubectl, walled.pods("auditor-b")[0]["metadata"]["name"])
    assert not [each for each in (*outsiders.values(), auditor) if reaches(each, end)]


def test_a_trade_is_told(walled: Release) -> None:
    assert "told by" in walled.test()


@pytest.mark.parametrize(
    "cell",
    [
        Cell(Deed.NONE),
        Cell(Deed.KILL, "kafka"),
        Cell(Deed.KILL, "executor", "aldebaran/auditor=a"),
    ],
    ids=lambda cell: cell.title,
)
def test_every_accepted_over_purchase_alerts_once(
    walled: Release, cluster_report: ClusterReport, cell: Cell
) -> None:
    if cell.to == "executor" and RUNNER != "cluster":
        pytest.skip("CLUSTER_RUNNER=cluster makes executors pods")
    trial = Trial(walled, cell, f"k{uuid.uuid4().hex[:8]}")
    outcome = cluster_report.played(f"{RUNS}, NetworkPolicies enforced", trial)
    assert outcome.counts.right, outcome
