"""Apache's Spark operator: starts drivers for objects of kind SparkApplication, and again."""

from pathlib import Path
from typing import Any, Final

from tests.cluster.addons.addon import Addon
from tests.cluster.addons.installing import define, helm
from tests.cluster.addons.maven_tree import MavenTree

NAMESPACE: Final = "apache-spark-operator"
FOLDER: Final = "/opt/spark-operator/operator"
"""Where its own image has it; its manifests name nothing but files there."""
JARS: Final = "lib/*"
"""Its own image has one jar of all; Java takes a folder of them as well."""
REQUESTS: Final = {"requests": {"cpu": "20m", "memory": "256Mi"}, "limits": {"memory": "768Mi"}}
JVM: Final = "-Xmx384m -XX:+UseSerialGC -XX:+ExitOnOutOfMemoryError -Dfile.encoding=UTF8"
"""In place of options that take all memory at once, and one that only a newer Java knows."""


def install(addon: Addon, chart: Path) -> None:
    """Install its own chart, its kinds first."""
    define(chart / "crds")
    helm(NAMESPACE, NAMESPACE, chart, values(addon.image))


def values(image: str) -> dict[str, Any]:
    """Return the chart's values: our image, every namespace, and what a small node has."""
    repository, _, tag = image.rpartition(":")
    environment = {"SPARK_USER": "spark", "SPARK_OPERATOR_JAR": JARS}
    container = {
        "jvmArgs": JVM,
        "env": [{"name": name, "value": value} for name, value in environment.items()],
        "resources": REQUESTS,
    }
    return {
        "image": {"repository": repository, "tag": tag},
        "operatorDeployment": {"operatorPod": {"operatorContainer": container}},
        "operatorConfiguration": {
            "spark-operator.properties": "spark.kubernetes.operator.watchedNamespaces=*\n"
        },
        "workloadResources": {
            "namespaces": {"create": False, "overrideWatchedNamespaces": False},
            **{
                name: {"create": False}
                for name in ("serviceAccount", "role", "clusterRole", "roleBinding")
            },
        },
    }


APACHE_SPARK_OPERATOR: Final = Addon(
    name="apache-spark-operator",
    origin=MavenTree(
        repository="https://github.com/apache/spark-kubernetes-operator",
        # The newest whose libraries, and the Java of our image, are all had.
        version="0.8.0",
        commit="18a52002cb8393ae97491bb9e7c342933817cb60",
        build=Path(__file__).with_name("apache_spark_operator.xml"),
        files={
            f"{FOLDER}/docker-entrypoint.sh": "build-tools/docker/docker-entrypoint.sh",
            f"{FOLDER}/lib": "target/lib",
        },
    ),
    manifests="build-tools/helm/spark-kubernetes-operator",
    install=install,
    base="aldebaran/spark:dev",
    user=185,
    folder=FOLDER,
)
