"""Which driver counts as the one that an application asked for."""

import pytest

from tests.cluster.drivers import OPERATORS
from tests.cluster.kubectl import Object

APPLICATIONS: dict[str, Object] = {
    "kubeflow": {
        "metadata": {"name": "auditor-a"},
        "spec": {"image": "aldebaran/spark:next"},
        "status": {"submissionID": "2", "applicationState": {"state": "RUNNING"}},
    },
    "apache": {
        "metadata": {"name": "auditor-a"},
        "spec": {"sparkConf": {"spark.kubernetes.container.image": "aldebaran/spark:next"}},
        "status": {
            "currentAttemptSummary": {"attemptInfo": {"id": 2}},
            "currentState": {"currentStateSummary": "RunningHealthy"},
        },
    },
}
LABELS = {
    "kubeflow": ("sparkoperator.k8s.io/submission-id", "{}"),
    "apache": ("spark-app-selector", "auditor-a-{}"),
}
FAILED: dict[str, Object] = {
    "kubeflow": {"applicationState": {"state": "FAILED", "errorMessage": "no such image"}},
    "apache": {"currentState": {"currentStateSummary": "FAILED", "message": "no such image"}},
}
of_both = pytest.mark.parametrize("runner", OPERATORS)


def pod(runner: str, submission: str, image: str, ready: str) -> Object:
    """Return a driver's pod as Kubernetes tells of it."""
    label, value = LABELS[runner]
    return {
        "metadata": {"labels": {label: value.format(submission)}},
        "spec": {"containers": [{"image": image}]},
        "status": {"conditions": [{"type": "Ready", "status": ready}]},
    }


@of_both
@pytest.mark.parametrize(
    ("submission", "image", "ready", "expected"),
    [
        ("2", "aldebaran/spark:next", "True", True),
        ("1", "aldebaran/spark:next", "True", False),
        ("2", "aldebaran/spark:dev", "True", False),
        ("2", "aldebaran/spark:next", "False", False),
    ],
    ids=["newest", "driver before", "image before", "not ready"],
)
def test_only_the_newest_ready_driver_drives(
    runner: str, submission: str, image: str, ready: str, expected: bool
) -> None:
    driver = pod(runner, submission, image, ready)
    assert OPERATORS[runner].drives(driver, APPLICATIONS[runner]) is expected


@of_both
def test_before_the_operator_has_seen_it_nothing_drives(runner: str) -> None:
    unseen = {name: APPLICATIONS[runner][name] for name in ("metadata", "spec")}
    assert OPERATORS[runner].state(unseen) == ""
    unlabelled = pod(runner, "1", "aldebaran/spark:next", "True")
    unlabelled["metadata"]["labels"] = {}
    assert not OPERATORS[runner].drives(unlabelled, unseen)


@of_both
def test_a_failure_is_told_with_its_reason(runner: str) -> None:
    assert OPERATORS[runner].state({"status": FAILED[runner]}) == "FAILED no such image"
