"""KEDA: scales by what waits on a topic."""

from pathlib import Path
from typing import Any, Final

from tests.cluster.addons.addon import Addon
from tests.cluster.addons.go_module import GoModule
from tests.cluster.addons.installing import (
    apply,
    kustomized,
    wait_rolled_out,
    wait_served,
    with_image,
)
from tests.cluster.kubectl import Object

NAMESPACE: Final = "keda"
STARTED: Final = {
    "keda-operator": "/keda",
    "keda-metrics-apiserver": "/keda-adapter",
    "keda-admission": "/keda-admission-webhooks",
}
"""Its three Deployments and the program of each, as one image has all of them."""
REQUESTS: Final = {"requests": {"cpu": "20m", "memory": "64Mi"}}


def install(addon: Addon, folder: Path) -> None:
    """Apply its own kustomization."""
    apply(started(made) for made in with_image(kustomized(folder), addon.image))
    wait_rolled_out(NAMESPACE, *(f"deployment/{name}" for name in STARTED))
    wait_served("v1beta1.external.metrics.k8s.io")


def started(made: Object) -> Object:
    """Return an object as a small node takes it: told which program it starts, asking for less."""
    if made["kind"] != "Deployment":
        return made
    (container,) = made["spec"]["template"]["spec"]["containers"]
    program = {"command": [STARTED[made["metadata"]["name"]]], "resources": REQUESTS}
    arguments: list[Any] = [each for each in container["args"] if each.startswith("-")]
    container |= program | {"args": arguments}
    return made


KEDA: Final = Addon(
    name="keda",
    origin=GoModule(
        module="github.com/kedacore/keda/v2",
        version="v2.17.2",
        h1="h1:xlrcK5TKABJF9PebK79sgL07s/csGjL3H4m72OkZXxk=",
        programs={
            "/keda": "./cmd/operator",
            "/keda-adapter": "./cmd/adapter",
            "/keda-admission-webhooks": "./cmd/webhooks",
        },
        linked={"github.com/kedacore/keda/v2/version.Version": "v2.17.2"},
    ),
    manifests="config/default",
    install=install,
)
