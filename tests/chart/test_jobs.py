"""Jobs that stay when they are finished, until one of another name takes their place."""

from typing import Final

import pytest

from tests.chart.rendering import (
    Case,
    Object,
    every_case,
    needs_helm,
    pods,
    rendered,
    setting,
)

pytestmark = needs_helm

APACHE: Final = setting("auditor.runner=apache", "auditor.checkpoints.sharedNode=true")
"""Of the runners the one that has both Jobs."""


def jobs(*arguments: str) -> dict[str, Object]:
    """Return the Jobs that the chart makes, by what each is for."""
    made = [each for each in rendered(*arguments) if each["kind"] == "Job"]
    return {each["metadata"]["labels"]["app.kubernetes.io/component"]: each for each in made}


def test_jobs_too_have_what_a_quota_asks_of_every_pod() -> None:
    made = rendered(*APACHE, *setting("default.resources.limits.cpu=2"))
    short = pods([each for each in made if each["kind"] in {"Job", "Pod"}])
    assert {name.split("-")[2] for name in short} == {"topics", "outdated", "trial"}
    for pod in short.values():
        (container,) = pod["containers"]
        assert container["resources"]["limits"]["cpu"] == 2
        assert container["resources"]["requests"]["cpu"] in {"50m", "20m"}


@every_case
def test_a_job_is_its_pod_and_how_often_it_is_tried(case: Case) -> None:
    """Kubernetes removes none, or Argo CD would miss it; what nobody may change is in its name."""
    for job in jobs(*case).values():
        assert set(job["spec"]) == {"backoffLimit", "template"}


@pytest.mark.parametrize(
    ("change", "others"),
    [
        ("image.service.tag=next", {"topics"}),
        ("image.spark.tag=next", {"outdated"}),
        ("commonLabels.team=desk", {"topics", "outdated"}),
        ("existingSecret=more", {"topics", "outdated"}),
        ("settings.log_level=debug", {"topics", "outdated"}),
        ("image.pullSecrets={pull}", {"topics", "outdated"}),
        ("default.nodeSelector.disk=fast", {"topics"}),
        ("auditor.nodeSelector.disk=fast", {"outdated"}),
        ("components.gateway.replicas=3", set()),
        ("nameOverride=aldebaran", set()),
    ],
)
def test_a_job_that_would_differ_is_another_job(change: str, others: set[str]) -> None:
    before, after = jobs(*APACHE), jobs(*APACHE, *setting(change))
    assert before.keys() == after.keys() == {"topics", "outdated"}
    for name, one in before.items():
        same_pod = one["spec"]["template"] == after[name]["spec"]["template"]
        same_name = one["metadata"]["name"] == after[name]["metadata"]["name"]
        assert same_name == same_pod == (name not in others)
