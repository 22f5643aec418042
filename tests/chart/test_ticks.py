"""The example that sends ticks on Kubernetes finds what the chart makes beside it."""

import re
from typing import Final

import pytest
import yaml

from tests.chart.rendering import NEWEST, OLDEST, ROOT, Object, needs_helm, rendered
from tests.chart.test_tools import PYTHON, VALIDATE, complaints, needs_schemas

EXAMPLE: Final = ROOT / "docs" / "examples" / "silence"
JOB: Final = EXAMPLE / "cronjob.yaml"
PAGE: Final = (ROOT / "docs" / "nothing-came.md").read_text("utf-8")


@pytest.fixture(scope="module")
def made() -> dict[tuple[str, str], Object]:
    """What the page's `helm` makes for a release of that name, by kind and name."""
    files = re.findall(r"--set-file '(.+?)=(.+?)'", PAGE)
    given = [text for name, path in files for text in ("--set-file", f"{name}={ROOT / path}")]
    objects = rendered(*given, "--set", "fullnameOverride=aldebaran")
    return {(each["kind"], each["metadata"]["name"]): each for each in objects}


def pod() -> Object:
    spec: Object = yaml.safe_load(JOB.read_text("utf-8"))["spec"]["jobTemplate"]["spec"]
    inside: Object = spec["template"]["spec"]
    return inside


@needs_helm
def test_it_reads_the_list_that_the_watch_reads(made: dict[tuple[str, str], Object]) -> None:
    mounts = {each["name"]: each["configMap"]["name"] for each in pod()["volumes"]}
    listed = made["ConfigMap", mounts["watches"]]["data"]["sources.csv"]
    assert listed == (EXAMPLE / "watches" / "sources.csv").read_text("utf-8")
    made_by_hand = re.findall(r"create configmap (\S+) --from-file=(\S+)", PAGE)
    assert made_by_hand == [(mounts["ticks"], str((EXAMPLE / "ticks.sh").relative_to(ROOT)))]


def test_all_of_it_goes_to_one_namespace() -> None:
    commands = re.findall(r"^(?:helm|kubectl) .*", PAGE, re.MULTILINE)
    assert len(commands) == 3
    assert all(" -n aldebaran " in each for each in commands)


@needs_helm
def test_it_comes_to_the_gateway_with_a_key(made: dict[tuple[str, str], Object]) -> None:
    (container,) = pod()["containers"]
    told = {each["name"]: each for each in container["env"]}
    (port,) = made["Service", told["GATEWAY"]["value"].removeprefix("http://")]["spec"]["ports"]
    assert port["port"] == 80
    key = told["KEY"]["valueFrom"]["secretKeyRef"]
    assert key["key"] in made["Secret", key["name"]]["stringData"]
    policy = made["NetworkPolicy", "aldebaran-gateway"]["spec"]
    assert any("from" not in each for each in policy["ingress"])


@needs_schemas
@pytest.mark.parametrize("version", [OLDEST, NEWEST])
def test_it_fits_the_schemas(version: str) -> None:
    minor = version.rpartition(".")[0]
    assert not complaints(PYTHON, VALIDATE, "--strict", "-k", minor, JOB)
