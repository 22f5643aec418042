"""The chart rendered by Helm: what it makes keeps our rules, and what cannot work is refused.

Skipped where there is no Helm; `make chart-tools` installs it.
"""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
CHART = ROOT / "charts" / "aldebaran"
OLDEST, NEWEST = "1.29.0", "1.34.0"
TOOLS = Path(os.environ.get("ALDEBARAN_TOOLS", ROOT / ".tools"))
HELM = shutil.which("helm", path=f"{TOOLS / 'bin'}:{os.environ['PATH']}")
CASES = sorted((CHART / "ci").glob("*.yaml"))
Object = dict[str, Any]

pytestmark = pytest.mark.skipif(HELM is None, reason="no Helm: run `make chart-tools`")


def helm(*arguments: str, version: str = NEWEST) -> subprocess.CompletedProcess[str]:
    """Render the chart."""
    assert HELM
    command = [HELM, "template", "t", str(CHART), "--kube-version", version, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def rendered(*arguments: str, version: str = NEWEST) -> list[Object]:
    """Return the objects that the chart makes."""
    made = helm(*arguments, version=version)
    assert made.returncode == 0, made.stderr
    return [each for each in yaml.safe_load_all(made.stdout) if each]


def pods(objects: list[Object]) -> dict[str, Object]:
    """Return the pod's part of everything that makes pods, by name."""
    return {
        each["metadata"]["name"]: each["spec"] if each["kind"] == "Pod" else _template(each)
        for each in objects
        if each["kind"] in {"Deployment", "StatefulSet", "Job", "Pod"}
    }


def _template(each: Object) -> Object:
    spec: Object = each["spec"]["template"]["spec"]
    return spec


def refusal(*settings: str) -> str:
    """Return why the chart refuses these settings."""
    made = helm(*(text for setting in settings for text in ("--set", setting)))
    assert made.returncode != 0
    return made.stderr


@pytest.mark.parametrize("version", [OLDEST, NEWEST])
@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_every_case_renders(case: Path, version: str) -> None:
    assert rendered("-f", str(case), version=version)


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_every_pod_is_restricted(case: Path) -> None:
    for name, pod in pods(rendered("-f", str(case))).items():
        assert pod["securityContext"]["runAsNonRoot"] is True, name
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, name
        for container in pod["containers"]:
            context = container["securityContext"]
            assert context["readOnlyRootFilesystem"] is True, name
            assert context["allowPrivilegeEscalation"] is False, name
            assert context["capabilities"] == {"drop": ["ALL"]}, name
            assert container["resources"]["limits"]["memory"], name


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_no_secret_stands_in_an_environment(case: Path) -> None:
    objects = rendered("-f", str(case))
    secrets = [
        value
        for each in objects
        if each["kind"] == "Secret"
        for name, value in each["stringData"].items()
        if not name.endswith(".yaml")
    ]
    environments = [
        variable.get("value", "")
        for pod in pods(objects).values()
        for container in pod["containers"]
        for variable in container.get("env", [])
    ]
    assert secrets
    assert not [text for text in environments if any(secret in text for secret in secrets)]


def test_every_object_is_labelled_and_every_policy_selects_pods_that_exist() -> None:
    objects = rendered("-f", str(CASES[0]))
    components = {each["metadata"]["labels"]["app.kubernetes.io/component"] for each in objects}
    selected = {
        each["spec"]["podSelector"]["matchLabels"].get("app.kubernetes.io/component")
        for each in objects
        if each["kind"] == "NetworkPolicy"
    }
    assert selected - {None} <= components


def test_two_auditors_by_default_each_with_a_checkpoint_of_its_own() -> None:
    sets = {each["metadata"]["name"]: each for each in rendered() if each["kind"] == "StatefulSet"}
    auditors = [each for name, each in sets.items() if "auditor" in name]
    assert len(auditors) == 2
    for each in auditors:
        assert each["spec"]["replicas"] == 1
        assert each["spec"]["volumeClaimTemplates"]


def test_executors_are_pods_where_the_runner_is_the_cluster() -> None:
    objects = rendered(
        *("--set", "auditor.runner=cluster"),
        *("--set", "auditor.checkpoints.accessModes={ReadWriteMany}"),
    )
    assert {"Role", "RoleBinding"} <= {each["kind"] for each in objects}
    auditor = pods(objects)["t-aldebaran-auditor-a"]
    environment = {each["name"]: each.get("value") for each in auditor["containers"][0]["env"]}
    assert environment["ALDEBARAN_AUDITOR_MASTER"].startswith("k8s://")
    assert "spark.kubernetes.container.image" in environment["ALDEBARAN_AUDITOR_SPARK_OPTIONS"]


@pytest.mark.parametrize(
    ("settings", "advice"),
    [
        (["auditor.slots=4"], "Set auditor.slots to 10"),
        (["auditor.runner=cluster"], "ReadWriteMany"),
        (["kafka.mode=external"], "kafka.bootstrapServers"),
        (["postgres.mode=external"], "postgres.existingSecret"),
        (["kafka.embedded.replicas=2"], "replicas"),
        (["channels.pigeon.colour=grey"], "colour"),
        (["components.gateway.autoscaling.type=keda"], "hpa"),
        (["routes.other\\.yaml=x"], "routes.yaml"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else None,
)
def test_what_cannot_work_is_refused_with_what_to_do(settings: list[str], advice: str) -> None:
    assert advice in refusal(*settings)


def test_nobody_to_tell_is_refused() -> None:
    off = [f"channels.{name}.enabled=false" for name in ("bus", "webhook", "email")]
    assert "nobody would be told" in refusal(*off)
