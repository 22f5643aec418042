"""The chart's examples on a real API server: those that fit are run, every object is tried."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.chart.rendering import CASES, EXAMPLES, Case, case_of, needs_helm, rendered
from tests.cluster.conftest import reachable
from tests.cluster.kubectl import Kubectl, kinds, run
from tests.cluster.release import HERE, Release

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(1800)]

RUN = ("minimal", "one-node")
CORE = {"StatefulSet", "Deployment", "Service", "NetworkPolicy", "Secret"}


@pytest.fixture(autouse=True, scope="module")
def api_server() -> None:
    """Without one there is nothing to ask."""
    if why := reachable():
        pytest.skip(f"{why}; docs/cluster-tests.md tells what is needed")


@pytest.fixture(params=RUN)
def example(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Release]:
    """An example, installed in a namespace of its own with only what this node demands."""
    kubectl = Kubectl(f"aldebaran-example-{request.param}")
    values = {case_of(path): path for path in EXAMPLES}[request.param]
    kubectl.make_namespace()
    release = Release(kubectl, tmp_path, [values, HERE / "examples.yaml"])
    try:
        release.install()
        yield release
    finally:
        release.remove()


def test_a_trade_leads_to_its_alert(example: Release) -> None:
    assert "told by" in example.test()


@needs_helm
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_api_server_takes_every_object_whose_kind_it_knows(case: Case) -> None:
    known = kinds()
    objects = [each for each in rendered(*case) if (each["apiVersion"], each["kind"]) in known]
    for pod in (each for each in objects if each["kind"] == "Pod"):
        pod["spec"]["serviceAccountName"] = "default"  # its own is only tried, too, and not there
    assert {each["kind"] for each in objects} >= CORE
    told = run(
        ("kubectl", "apply", "--server-side", "--dry-run=server", "-f", "-"),
        yaml.safe_dump_all(objects),
    ).splitlines()
    assert len(told) == len(objects)
    assert all(line.endswith("serverside-applied (server dry run)") for line in told)
