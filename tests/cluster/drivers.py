"""Drivers that a Spark operator starts for the release: objects of its kind, a pod each."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tests.cluster.kubectl import Kubectl, Object, ready


@dataclass(frozen=True)
class Operator:
    """One of the operators that `auditor.runner` names, and how its objects are read."""

    addon: str
    kind: str
    state: Callable[[Object], str]
    """What it says of an application, with its reason."""
    image: Callable[[Object], str]
    """Which image an application asks for."""
    label: str
    """By which a driver's pod tells what it was submitted for."""
    newest: Callable[[Object], str | None]
    """The label's value for what was last submitted; None where nothing was."""

    def not_driven(self, kubectl: Kubectl, release: str) -> list[str]:
        """Return the release's applications whose newest driver is not ready, with their state."""
        drivers = kubectl.get("pods", release, "spark-role=driver")
        return [
            f"{each['metadata']['name']} ({self.state(each) or 'not seen'})"
            for each in kubectl.get(self.kind, release)
            if not any(self.drives(pod, each) for pod in drivers)
        ]

    def drives(self, pod: Object, application: Object) -> bool:
        """Tell whether a pod is the ready driver of what was submitted last, with its image."""
        (image,) = (each["image"] for each in pod["spec"]["containers"])
        newest = self.newest(application)
        is_newest = newest is not None and pod["metadata"]["labels"].get(self.label) == newest
        return is_newest and image.endswith(self.image(application)) and ready(pod)


def said(status: Object, state: str, reason: str) -> str:
    """Return a state with its reason."""
    return " ".join(filter(None, (status.get(state), status.get(reason))))


def attempt(application: Object) -> str | None:
    """Return what Apache's operator calls the last attempt."""
    summary = application.get("status", {}).get("currentAttemptSummary")
    name = application["metadata"]["name"]
    return f"{name}-{summary['attemptInfo']['id']}" if summary else None


KUBEFLOW: Final = Operator(
    addon="spark-operator",
    kind="sparkapplications.sparkoperator.k8s.io",
    state=lambda each: said(
        each.get("status", {}).get("applicationState", {}), "state", "errorMessage"
    ),
    image=lambda each: str(each["spec"]["image"]),
    label="sparkoperator.k8s.io/submission-id",
    newest=lambda each: each.get("status", {}).get("submissionID"),
)
APACHE: Final = Operator(
    addon="apache-spark-operator",
    kind="sparkapplications.spark.apache.org",
    state=lambda each: said(
        each.get("status", {}).get("currentState", {}), "currentStateSummary", "message"
    ),
    image=lambda each: str(each["spec"]["sparkConf"]["spark.kubernetes.container.image"]),
    label="spark-app-selector",
    newest=attempt,
)
OPERATORS: Final = {"kubeflow": KUBEFLOW, "apache": APACHE}
"""By `auditor.runner`."""
