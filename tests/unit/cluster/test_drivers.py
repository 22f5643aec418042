"""Which driver counts as the one that an application asked for."""

import pytest

from tests.cluster.drivers import drives, state
from tests.cluster.kubectl import Object

APPLICATION: Object = {
    "spec": {"image": "aldebaran/spark:next"},
    "status": {"submissionID": "2", "applicationState": {"state": "RUNNING"}},
}


def pod(submission: str, image: str, ready: str) -> Object:
    """Return a driver's pod as Kubernetes tells of it."""
    return {
        "metadata": {"labels": {"sparkoperator.k8s.io/submission-id": submission}},
        "spec": {"containers": [{"image": image}]},
        "status": {"conditions": [{"type": "Ready", "status": ready}]},
    }


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
    submission: str, image: str, ready: str, expected: bool
) -> None:
    assert drives(pod(submission, image, ready), APPLICATION) is expected


def test_before_the_operator_has_seen_it_nothing_drives() -> None:
    unseen: Object = {"spec": APPLICATION["spec"]}
    assert state(unseen) == "not seen"
    unlabelled = pod("1", "aldebaran/spark:next", "True")
    unlabelled["metadata"]["labels"] = {}
    assert not drives(unlabelled, unseen)


def test_a_failure_is_told_with_its_reason() -> None:
    failed = {"state": "SUBMISSION_FAILED", "errorMessage": "no such image"}
    assert state({"status": {"applicationState": failed}}) == "SUBMISSION_FAILED no such image"
