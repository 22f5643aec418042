"""Auditors that a Spark operator starts: as safe as the others, told the same, started again."""

import os
from unittest import mock

import pytest

from auditor.settings import AuditorSettings
from services.backbone.settings import PREFIX
from tests.chart.rendering import Object, environment, needs_helm
from tests.chart.runners import OPERATORS, RUNNERS, made_by, templates
from tests.chart.test_networkpolicies import may_go_out
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


@pytest.mark.parametrize("runner", ["local", *RUNNERS])
def test_nothing_starts_a_driver_where_auditors_are_switched_off(runner: str) -> None:
    made = made_by(runner, "auditor.enabled=false")
    assert not [each for each in made if "auditor" in each["metadata"]["name"]]
    assert "SparkApplication" not in {each["kind"] for each in made}


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
    wanted = ("nodeSelector.disk=fast", "podAnnotations.note=stay", "priorityClassName=first")
    for made in templates(made_by(runner, *(f"auditor.{each}" for each in wanted)), runner):
        assert made["spec"]["nodeSelector"] == {"disk": "fast"}
        assert made["metadata"]["annotations"]["note"] == "stay"
        assert made["spec"]["priorityClassName"] == "first"


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


def test_apaches_operator_is_told_what_runs_python() -> None:
    for each in applications("apache"):
        assert each["spec"]["mainClass"] == "org.apache.spark.deploy.PythonRunner"
        assert each["spec"]["pyFiles"].startswith("local:///")


def test_apaches_operator_ends_no_driver_for_being_late_nor_at_once() -> None:
    """The next one would begin beside it, on the same checkpoint."""
    for each in applications("apache"):
        limits = each["spec"]["applicationTolerations"]["applicationTimeoutConfig"]
        assert (limits["driverStartTimeoutMillis"], limits["driverReadyTimeoutMillis"]) == (0, 0)
        assert limits["forceTerminationGracePeriodMillis"] > 1e12


def test_executors_that_ended_do_not_stay_until_their_stream_ends() -> None:
    for each in applications("apache"):
        assert each["spec"]["sparkConf"]["spark.kubernetes.executor.deleteOnTermination"] == "true"


def ending(*changes: str) -> Object:
    """Return what ends the drivers of before."""
    jobs = [each for each in made_by("apache", *changes) if each["kind"] == "Job"]
    (found,) = (each for each in jobs if "outdated" in each["metadata"]["name"])
    return found


def selected(job: Object) -> list[dict[str, str]]:
    """Return the labels that a Job ends drivers by, `!` before the value that is spared."""
    (container,) = job["spec"]["template"]["spec"]["containers"]
    program, *selectors = container["args"]
    assert program == "engine.outdated"
    return [
        dict(pair.replace("!=", "=!").split("=") for pair in each.split(",")) for each in selectors
    ]


def test_drivers_of_apaches_operator_that_run_by_what_was_asked_before_are_ended() -> None:
    """The operator (0.8.0, and 1.0.0 by its code) leaves them as they are."""
    for each, labels in zip(applications("apache"), selected(ending()), strict=True):
        conf = each["spec"]["sparkConf"]
        revision = conf["spark.kubernetes.driver.label.aldebaran/revision"]
        assert labels.pop("aldebaran/revision") == f"!{revision}"
        assert labels.pop("spark-role") == "driver"
        assert (
            labels.items()
            <= each["spec"]["driverSpec"]["podTemplateSpec"]["metadata"]["labels"].items()
        )


@pytest.mark.parametrize(
    ("change", "which"),
    [
        ("image.spark.tag=next", {0, 1}),
        ("auditor.batchSeconds=90", {0, 1}),
        ("auditor.executors.memory=2g", {0, 1}),
        ("auditor.podAnnotations.note=new", {0, 1}),
        ("auditor.partnerWaitSeconds=99", {1}),
        ("components.gateway.replicas=3", set()),
    ],
)
def test_only_what_changes_a_driver_ends_it(change: str, which: set[int]) -> None:
    before, after = ending(), ending(change)
    pairs = list(zip(selected(before), selected(after), strict=True))
    assert {at for at, (one, other) in enumerate(pairs) if one != other} == which
    assert (before["metadata"]["name"] == after["metadata"]["name"]) is not bool(which)


def test_what_ends_drivers_may_do_so_and_is_as_safe_as_they_are() -> None:
    template = ending()["spec"]["template"]
    pod = template["spec"]
    assert pod["serviceAccountName"] == "t-aldebaran-auditor"
    assert may_go_out(made_by("apache"), template["metadata"]["labels"], {}, 6443)
    (container,) = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"]["readOnlyRootFilesystem"] is True


def test_kubeflows_operator_ends_drivers_itself() -> None:
    assert not [
        each["metadata"]["name"]
        for each in made_by("kubeflow")
        if "outdated" in each["metadata"]["name"]
    ]
