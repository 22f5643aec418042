"""What add-ons are installed by: their own manifests, with our images, by kubectl and Helm."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import yaml

from services.machine.problems import MachineProblem
from tests.cluster.kubectl import Object, run, until

READY_TIMEOUT: Final = "180s"
KNOWN_SECONDS: Final = 60.0
FIELD_MANAGER: Final = "aldebaran-test"


def kustomized(folder: Path) -> list[Object]:
    """Return what a kustomization makes."""
    return documents(run(("kubectl", "kustomize", str(folder))))


def documents(text: str) -> list[Object]:
    """Return the objects of a YAML file, empty documents left out."""
    return [each for each in yaml.safe_load_all(text) if each]


def with_image(made: Iterable[Object], image: str) -> list[Object]:
    """Return the same objects, every container of their pods with an image that is on the nodes."""
    return [_with_image(each, image) for each in made]


def _with_image(made: Object, image: str) -> Object:
    pod = made.get("spec", {}).get("template", {}).get("spec")
    if not pod or made["kind"] not in {"Deployment", "DaemonSet", "StatefulSet", "Job"}:
        return made
    kinds = [kind for kind in ("initContainers", "containers") if kind in pod]
    given = {"image": image, "imagePullPolicy": "IfNotPresent"}
    changed = pod | {kind: [each | given for each in pod[kind]] for kind in kinds}
    template = made["spec"]["template"] | {"spec": changed}
    return made | {"spec": made["spec"] | {"template": template}}


def apply(made: Iterable[Object]) -> None:
    """Apply objects on the server, as some definitions are too large for a client's annotation."""
    listed = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(made)})
    by = ("--server-side", "--force-conflicts", f"--field-manager={FIELD_MANAGER}")
    run(("kubectl", "apply", *by, "-f", "-"), listed)


def namespace(name: str, standard: str = "privileged") -> Object:
    """Return a namespace, with the standard that its pods must keep."""
    labels = {"pod-security.kubernetes.io/enforce": standard}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def wait_rolled_out(inside: str, *sets: str) -> None:
    """Wait until sets (`deployment/name`) have all their pods, new and ready."""
    for each in sets:
        run(("kubectl", "-n", inside, "rollout", "status", each, f"--timeout={READY_TIMEOUT}"))


def wait_served(api: str) -> None:
    """Wait until Kubernetes' API server serves an API of an add-on (`v1beta1.metrics.k8s.io`).

    Raises:
        MachineProblem: it does not; the message is what it says of that.
    """
    asked = ("wait", "--for=condition=Available", f"--timeout={READY_TIMEOUT}")
    try:
        run(("kubectl", *asked, f"apiservice/{api}"))
    except MachineProblem:
        said = json.loads(run(("kubectl", "get", "apiservice", api, "-o", "json")))
        raise MachineProblem(f"{api} is not served: {trouble(said)}") from None


def trouble(api_service: Object) -> str:
    """Return what keeps an API from being served, and what to do where that is known."""
    told = [each["message"] for each in api_service["status"].get("conditions", ())]
    why = "; ".join(told) or "nobody says why"
    # It then calls what it serves as nobody, and is answered like nobody.
    keys = "the API server needs --requestheader-client-ca-file and --proxy-client-cert-file"
    return f"{why}: {keys}" if why.endswith("403") else why


def wait_established(*definitions: str) -> None:
    """Wait until Kubernetes' API server knows kinds of an add-on.

    `kubectl wait` gives up where a definition is so new that it has no conditions at all.
    """
    named = tuple(f"crd/{each}" for each in definitions)

    def established() -> bool:
        told = json.loads(run(("kubectl", "get", *named, "-o", "json")))
        return all(is_established(each) for each in told.get("items", [told]))

    until(established, KNOWN_SECONDS, lambda: f"not known in time: {' '.join(definitions)}")


def is_established(definition: Object) -> bool:
    """Tell whether a definition is one that the API server serves."""
    said = definition.get("status", {}).get("conditions") or ()
    return any(each["type"] == "Established" and each["status"] == "True" for each in said)


def define(folder: Path) -> None:
    """Apply a chart's definitions of kinds: Helm changes none that are there from before."""
    made = [
        each
        for path in sorted(folder.glob("*.yaml"))
        for each in documents(path.read_text("utf-8"))
    ]
    apply(made)
    wait_established(*(each["metadata"]["name"] for each in made))


def helm(name: str, inside: str, chart: Path, values: Mapping[str, object]) -> None:
    """Install or upgrade a chart with values, and wait until all of it is ready."""
    options = (
        "--install",
        "-n",
        inside,
        "--create-namespace",
        "--wait",
        "--timeout",
        READY_TIMEOUT,
    )
    run(("helm", "upgrade", name, str(chart), *options, "-f", "-"), json.dumps(values))
