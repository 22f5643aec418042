"""Kubeflow's Spark operator: starts drivers for objects of kind SparkApplication, and again."""

from pathlib import Path
from typing import Any, Final

from tests.cluster.addons.addon import Addon
from tests.cluster.addons.go_module import GoModule
from tests.cluster.addons.installing import define, helm

NAMESPACE: Final = "spark-operator"
REQUESTS: Final = {"requests": {"cpu": "20m", "memory": "64Mi"}}
ALONE: Final = {"resources": REQUESTS, "leaderElection": {"enable": False}}
"""One of each: on a crowded node one that cannot say in time that it leads would be ended."""
EVERYWHERE: Final = ("",)
"""It starts drivers in all namespaces, also those that are made later."""


def install(addon: Addon, chart: Path) -> None:
    """Install its own chart, its kinds first."""
    define(chart / "crds")
    helm(NAMESPACE, NAMESPACE, chart, values(addon.image))


def values(image: str) -> dict[str, Any]:
    """Return the chart's values: our image, every namespace, and what a small node has."""
    registry, _, rest = image.partition("/")
    repository, _, tag = rest.rpartition(":")
    return {
        "image": {"registry": registry, "repository": repository, "tag": tag},
        "controller": {"workers": 2, **ALONE},
        "webhook": ALONE,
        "spark": {
            "jobNamespaces": list(EVERYWHERE),
            "serviceAccount": {"create": False},
            "rbac": {"create": False},
        },
    }


SPARK_OPERATOR: Final = Addon(
    name="spark-operator",
    origin=GoModule(
        module="github.com/kubeflow/spark-operator/v2",
        version="v2.3.0",
        h1="h1:cYN/331gwkdZ0S/ai72JQoUv7UK52O2OQOWFpl8XhPc=",
        programs={"/usr/bin/spark-operator": "./cmd/operator"},
    ),
    manifests="charts/spark-operator-chart",
    install=install,
    base="aldebaran/spark:dev",
    user=185,
)
