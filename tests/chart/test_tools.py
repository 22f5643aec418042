"""The chart held against Kubernetes' own schemas and the usual linters, where they are installed.

`make chart-tools` installs them by pip and by Go.
"""

import subprocess
from pathlib import Path

import pytest

from tests.chart.goldens import golden
from tests.chart.rendering import (
    CASES,
    CHART,
    EXAMPLES,
    HELM,
    NEWEST,
    OLDEST,
    TOOLS,
    Case,
    case_of,
    every_case,
    needs_helm,
    text_of,
    tool,
)

SCORE, UNITS = tool("kube-score"), tool("helm-unittest")
PYTHON = TOOLS.parent / "chart" / "bin" / "python"
VALIDATE = PYTHON.with_name("kubernetes-validate")
IGNORED = {
    "container-image-pull-policy": "tags are versions, and never moved",
    "container-ephemeral-storage-request-and-limit": "what is written there is some logs of Java",
    "container-security-context-user-group-id": "the users are those of the images",
    "networkpolicy-targets-pod": "executors and the pod of `helm test` come later",
    "pod-probes-identical": "a TCP port of a broker has one page for all",
    "service-targets-pod": "an operator makes the drivers' pods",
    "statefulset-has-servicename": "a Service that balances is one too",
}
"""What kube-score is not asked, and why."""
TIMEOUT_SECONDS = 120

needs_score = pytest.mark.skipif(SCORE is None, reason="no kube-score: run `make chart-tools`")
needs_units = pytest.mark.skipif(UNITS is None, reason="no helm-unittest: run `make chart-tools`")
needs_schemas = pytest.mark.skipif(
    not VALIDATE.exists(), reason="no kubernetes-validate: run `make chart-tools`"
)


def complaints(*command: str | Path) -> str:
    """Run a checker; return what it says if it finds anything."""
    made = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=TIMEOUT_SECONDS
    )
    return made.stdout + made.stderr if made.returncode else ""


@needs_helm
@pytest.mark.parametrize("case", [(), *CASES.values()], ids=["defaults", *CASES])
def test_helm_finds_nothing(case: Case) -> None:
    assert HELM
    assert not complaints(HELM, "lint", "--strict", "--kube-version", NEWEST, CHART, *case)


@needs_helm
@needs_schemas
@pytest.mark.parametrize("version", [OLDEST, NEWEST])
@every_case
def test_objects_fit_the_schemas(case: Case, version: str, tmp_path: Path) -> None:
    made = tmp_path / "made.yaml"
    made.write_text(text_of(*case, version=version), "utf-8")
    minor = version.rpartition(".")[0]
    assert not complaints(PYTHON, VALIDATE, "--strict", "-k", minor, made)


@needs_score
@pytest.mark.parametrize("case", EXAMPLES, ids=case_of)
def test_the_score_is_without_fault(case: Path) -> None:
    assert SCORE
    ignored = [text for name in IGNORED for text in ("--ignore-test", name)]
    limits = ("--ignore-container-cpu-limit", "--output-format", "ci")  # a limit is a pause
    assert not complaints(SCORE, "score", *ignored, *limits, golden(case))


@needs_units
def test_the_charts_own_unit_tests_pass() -> None:
    assert UNITS
    assert not complaints(UNITS, CHART)
