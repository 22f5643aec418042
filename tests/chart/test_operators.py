"""Auditors that a Spark operator starts: as safe as the others, told the same, started again."""

import os
from unittest import mock

import pytest

from auditor.settings import AuditorSettings
from services.backbone.settings import PREFIX
from tests.chart.rendering import Object, environment, needs_helm
from tests.chart.runners import OPERATORS, RUNNERS, made_by, templates
from tests.chart.test_settings_agree import SHARED, names

pytestmark = needs_helm

APIS = {"kubeflow": "sparkoperator.k8s.io/v1beta2", "apache": "spark.apache.org/v1"}


def applications(runner: str) -> list[Object]:
    """Return what the operator is asked for."""
    return [each for each in made_by(runner) if each["kind"] == "SparkApplication"]


@pytest.mark.parametrize("runner", OPERATORS)
def test_the_operator_has_one_application_for_each_auditor_and_nobody_else_starts_them(
    runner: str,
) -> None:
    assert {each["apiVersion"] for each in applications(runner)} == {APIS[runner]}
    named = [each["metadata"]["name"] for each in applications(runner)]
    assert named == ["t-aldebaran-auditor-a", "t-aldebaran-auditor-b"]
    sets = {e["metadata"]["name"] for e in made_by(runner) if e["kind"] == "StatefulSet"}
    assert not sets & set(named)


@pytest.mark.parametrize("runner", RUNNERS)
def test_driver_and_executors_are_restricted(runner: str) -> None:
    for made in templates(made_by(runner), runner):
        pod = made["spec"]
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        (container,) = pod["containers"]
        assert container["securityContext"]["readOnlyRootFilesystem"] is True
        assert container["securityContext"]["allowPrivilegeEscalation"] is False
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}


@pytest.mark.parametrize("runner", OPERATORS)
def test_the_driver_knows_and_takes_every_setting(runner: str) -> None:
    driver, _ = templates(made_by(runner), runner)
    (container,) = driver["spec"]["containers"]
    told = environment(container)
    ours = {name for name in told if name.startswith(PREFIX)}
    assert names(ours) <= set(AuditorSettings.model_fields) | SHARED
    with mock.patch.dict(os.environ, told):
        assert AuditorSettings().auditor_id == "a"


@pytest.mark.parametrize("runner", OPERATORS)
def test_drivers_and_executors_go_where_auditors_are_told_to_go(runner: str) -> None:
    wanted = ("auditor.nodeSelector.disk=fast", "auditor.podAnnotations.note=stay")
    for made in templates(made_by(runner, *wanted), runner):
        assert made["spec"]["nodeSelector"] == {"disk": "fast"}
        assert made["metadata"]["annotations"]["note"] == "stay"


@pytest.mark.parametrize("runner", OPERATORS)
def test_a_drain_of_operators_drivers_is_counted_by_a_number(runner: str) -> None:
    (budget,) = (
        each
        for each in made_by(runner)
        if each["kind"] == "PodDisruptionBudget" and "auditors" in each["metadata"]["name"]
    )
    assert budget["spec"]["minAvailable"] == 1
    assert "maxUnavailable" not in budget["spec"]


def test_a_driver_is_started_again_however_it_ends() -> None:
    for each in applications("kubeflow"):
        assert each["spec"]["restartPolicy"]["type"] == "Always"
    for each in applications("apache"):
        restart = each["spec"]["applicationTolerations"]["restartConfig"]
        assert restart["restartPolicy"] == "Always"
        assert restart["maxRestartAttempts"] >= 1_000_000
