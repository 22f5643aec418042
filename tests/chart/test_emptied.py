"""Cluster Autoscaler can empty nodes: the guide's values reach every pod that stays."""

import re
from pathlib import Path

import pytest

from tests.chart.rendering import ROOT, Object, needs_helm, rendered, setting
from tests.chart.runners import RUNNERS, templates

pytestmark = needs_helm

PAGE = ROOT / "docs" / "kubernetes.md"
SAFE = "cluster-autoscaler.kubernetes.io/safe-to-evict"
BLOCK = re.compile(rf"^```yaml\n((?:(?!^```).)*{re.escape(SAFE)}.*?)^```", re.DOTALL | re.MULTILINE)


@pytest.fixture
def told(tmp_path: Path) -> list[str]:
    """Return the arguments that give the guide's values."""
    (block,) = BLOCK.findall(PAGE.read_text("utf-8"))
    values = tmp_path / "values.yaml"
    values.write_text(block, "utf-8")
    return ["-f", str(values), *setting("auditor.checkpoints.sharedNode=true")]


def unsaid(made: dict[str, Object]) -> set[str]:
    """Return the names of pods of which it is not said that they may go."""
    return {
        name
        for name, template in made.items()
        if template["metadata"].get("annotations", {}).get(SAFE) != "true"
    }


def staying(objects: list[Object]) -> dict[str, Object]:
    """Return what pods begin from that no Job ends, by name."""
    kinds = {"Deployment", "StatefulSet"}
    sets = (each for each in objects if each["kind"] in kinds)
    return {each["metadata"]["name"]: each["spec"]["template"] for each in sets}


def test_without_them_every_pod_keeps_its_node() -> None:
    made = staying(rendered(*setting("archivist.enabled=true")))
    assert unsaid(made) == set(made)


def test_every_pod_that_stays_may_go_where_the_guide_says_so(told: list[str]) -> None:
    more = setting("archivist.enabled=true", "kafka.embedded.replicas=3")
    assert unsaid(staying(rendered(*told, *more))) == set()


@pytest.mark.parametrize("runner", RUNNERS)
def test_drivers_and_executors_may_too(runner: str, told: list[str]) -> None:
    made = rendered(*told, *setting(f"auditor.runner={runner}"))
    driver, executor = templates(made, runner)
    assert unsaid({"driver": driver, "executor": executor}) == set()
