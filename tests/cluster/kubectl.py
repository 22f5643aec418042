"""kubectl and Helm as a test uses them: in one namespace, with answers as objects."""

import json
import subprocess
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from services.machine.problems import MachineProblem
from services.machine.waiting import now_seconds
from tests.said import said

COMMAND_TIMEOUT_SECONDS: Final = 400.0
Object = dict[str, Any]


def run(command: Sequence[str], given: str | None = None) -> str:
    """Run a command; return what it says.

    Raises:
        MachineProblem: it fails; the message is what it complains of.
    """
    made = subprocess.run(
        command,
        input=given,
        capture_output=True,
        text=True,
        check=False,
        timeout=COMMAND_TIMEOUT_SECONDS,
    )
    if made.returncode:
        raise MachineProblem(f"{' '.join(command[:8])}: {made.stderr.strip() or made.stdout}")
    return made.stdout


def knows(*definitions: str) -> bool:
    """Tell whether the API server has all these definitions of others (`kafkas.strimzi.io`)."""
    try:
        run(("kubectl", "get", *(f"crd/{each}" for each in definitions), "-o", "name"))
    except MachineProblem:
        return False
    return True


def kinds() -> set[tuple[str, str]]:
    """Return the API version and name of every kind of object that the API server knows."""
    told = run(("kubectl", "api-resources", "--no-headers")).splitlines()
    return {(words[-3], words[-1]) for words in map(str.split, told)}


@dataclass(frozen=True)
class Kubectl:
    """One namespace of the cluster that kubectl points at."""

    namespace: str

    def say(self, *arguments: str, given: str | None = None) -> str:
        """Run kubectl; return what it says."""
        return run(("kubectl", "-n", self.namespace, *arguments), given)

    def make_namespace(self) -> None:
        """Make the namespace; its pods must keep the strictest of Kubernetes' standards."""
        label = {"pod-security.kubernetes.io/enforce": "restricted"}
        metadata = {"name": self.namespace, "labels": label}
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
        run(("kubectl", "apply", "-f", "-"), json.dumps(namespace))

    def get(self, kind: str, *selectors: str) -> list[Object]:
        """Return objects of a kind; each selector is a label with its value."""
        labels = ("-l", ",".join(selectors)) if selectors else ()
        items: list[Object] = json.loads(self.say("get", kind, "-o", "json", *labels))["items"]
        return items

    def kill(self, pod: str) -> None:
        """End a pod as soon as Kubernetes can, in 2 s, whatever it does, and wait until it is gone.

        `--force` would be slower: the pod is only forgotten then, and lives its whole time to drain
        beside its successor, on the same volume.
        """
        self.say("delete", "pod", pod, "--grace-period=1")

    def python(self, pod: str, program: str, *arguments: str) -> str:
        """Run a Python program in a pod of the services' image; return what it writes."""
        python = "/opt/aldebaran/venv/bin/python"
        return self.say("exec", "-i", pod, "--", python, "-", *arguments, given=program)

    def logged(self, pod: str, event: str) -> list[Object]:
        """Return the lines of a pod's log that tell of an event."""
        return said(self.say("logs", pod), event)


def ready(pod: Object) -> bool:
    """Tell whether a pod is ready and is not being ended."""
    conditions = pod.get("status", {}).get("conditions", [])
    said = {each["type"]: each["status"] for each in conditions}
    return said.get("Ready") == "True" and "deletionTimestamp" not in pod["metadata"]


def until(
    condition: Callable[[], bool], timeout_seconds: float, otherwise: Callable[[], str]
) -> None:
    """Wait for a condition, asking once a second, as each question starts a program.

    Raises:
        MachineProblem: it does not hold in time.
    """
    deadline = now_seconds() + timeout_seconds
    while not condition():
        if now_seconds() > deadline:
            raise MachineProblem(f"{otherwise()} (waited {timeout_seconds:g} s)")
        pause(1.0)


def pause(seconds: float) -> None:
    """Let time pass; its length is the test's input, not a wait for something."""
    threading.Event().wait(seconds)
