"""The chart as Helm renders it, for tests."""

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

ROOT: Final = Path(__file__).parents[2]
CHART: Final = ROOT / "charts" / "aldebaran"
EXAMPLES: Final = sorted((CHART / "examples").glob("*/values.yaml"))
OLDEST, NEWEST = "1.29.0", "1.37.0"
"""The Kubernetes versions that the chart is held against."""

TOOLS: Final = Path(os.environ.get("ALDEBARAN_TOOLS", ROOT / ".tools")) / "bin"
Object = dict[str, Any]


def tool(name: str) -> str | None:
    """Return where a program of `make chart-tools` is, or None."""
    return shutil.which(name, path=f"{TOOLS}:{os.environ['PATH']}")


HELM: Final = tool("helm")
needs_helm: Final = pytest.mark.skipif(HELM is None, reason="no Helm: run `make chart-tools`")


def case_of(path: Path) -> str:
    """Return an example's name."""
    return path.parent.name


Case = tuple[str, ...]
CASES: Final[dict[str, Case]] = {case_of(path): ("-f", str(path)) for path in EXAMPLES}
CASES["spark-operators, apache"] = (*CASES["spark-operators"], "--set", "auditor.runner=apache")
"""Arguments of what is looked at: every example, and the other of the two Spark operators."""

every_case: Final = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


@cache
def helm(
    *arguments: str, version: str = NEWEST, chart: Path = CHART
) -> subprocess.CompletedProcess[str]:
    """Render a chart, ours if none is named, as release `t`."""
    assert HELM
    command = [HELM, "template", "t", str(chart), "--kube-version", version, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def text_of(*arguments: str, version: str = NEWEST, chart: Path = CHART) -> str:
    """Return what the chart makes, as text."""
    made = helm(*arguments, version=version, chart=chart)
    assert made.returncode == 0, made.stderr
    return made.stdout


def rendered(*arguments: str, version: str = NEWEST, chart: Path = CHART) -> list[Object]:
    """Return the objects that the chart makes."""
    text = text_of(*arguments, version=version, chart=chart)
    return [each for each in yaml.safe_load_all(text) if each]


def setting(*pairs: str) -> list[str]:
    """Return the arguments that set these values."""
    return [text for pair in pairs for text in ("--set", pair)]


APART = setting("auditor.runner=cluster", "auditor.checkpoints.sharedNode=true")
"""Drivers in pods, their executors in pods of their own."""


def refusal(*pairs: str) -> str:
    """Return why the chart refuses these settings."""
    made = helm(*setting(*pairs))
    assert made.returncode != 0
    return made.stderr


def templates(objects: list[Object]) -> dict[str, Object]:
    """Return what pods begin from, labels and all, of everything that makes pods, by name."""
    makers = {"Deployment", "StatefulSet", "Job", "Pod"}
    return {
        each["metadata"]["name"]: each if each["kind"] == "Pod" else each["spec"]["template"]
        for each in objects
        if each["kind"] in makers
    }


def pods(objects: list[Object]) -> dict[str, Object]:
    """Return the pod's part of everything that makes pods, by name."""
    return {name: each["spec"] for name, each in templates(objects).items()}


def environment(container: Object) -> dict[str, str]:
    """Return the variables of a container that have a plain value."""
    return {each["name"]: each["value"] for each in container.get("env", []) if "value" in each}
