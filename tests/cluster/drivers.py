"""Drivers that Kubeflow's operator starts for the release: objects of its kind, a pod each."""

from typing import Final

from tests.cluster.kubectl import Kubectl, Object, ready

KIND: Final = "sparkapplications.sparkoperator.k8s.io"
_SUBMISSION: Final = "sparkoperator.k8s.io/submission-id"


def not_driven(kubectl: Kubectl, release: str) -> list[str]:
    """Return the release's applications whose newest driver is not ready, with their state."""
    drivers = kubectl.get("pods", release, "spark-role=driver")
    return [
        f"{each['metadata']['name']} ({state(each)})"
        for each in kubectl.get(KIND, release)
        if not any(drives(pod, each) for pod in drivers)
    ]


def state(application: Object) -> str:
    """Return what the operator says of an application, with its reason."""
    said = application.get("status", {}).get("applicationState", {})
    return " ".join(filter(None, (said.get("state"), said.get("errorMessage")))) or "not seen"


def drives(pod: Object, application: Object) -> bool:
    """Tell whether a pod is the ready driver of what was last submitted, with the newest image."""
    submission = application.get("status", {}).get("submissionID")
    (image,) = (each["image"] for each in pod["spec"]["containers"])
    newest = pod["metadata"]["labels"].get(_SUBMISSION) == submission is not None
    return newest and image.endswith(application["spec"]["image"]) and ready(pod)
