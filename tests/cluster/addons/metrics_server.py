"""metrics-server: how much of a core each pod takes, which HPAs ask for."""

from pathlib import Path
from typing import Final

from tests.cluster.addons.addon import Addon
from tests.cluster.addons.go_module import GoModule
from tests.cluster.addons.installing import helm, wait_served


def install(addon: Addon, chart: Path) -> None:
    """Install its own chart; a test cluster's kubelets have certificates that nobody signed."""
    repository, _, tag = addon.image.rpartition(":")
    values = {
        "image": {"repository": repository, "tag": tag},
        "args": ["--kubelet-insecure-tls"],
        "resources": {"requests": {"cpu": "10m", "memory": "64Mi"}},
    }
    helm("metrics-server", "kube-system", chart, values)
    wait_served("v1beta1.metrics.k8s.io")


METRICS_SERVER: Final = Addon(
    name="metrics-server",
    origin=GoModule(
        module="sigs.k8s.io/metrics-server",
        version="v0.8.0",
        h1="h1:Zlsi3sBWEtFKCD3+xSysThvXyLQ363rUAlqpnsY5JwI=",
        programs={"/metrics-server": "./cmd/metrics-server"},
    ),
    manifests="charts/metrics-server",
    install=install,
)
