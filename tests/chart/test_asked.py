"""What docs/kubernetes.md says that each example asks nodes for is what its rendering asks for."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import pytest

from tests.chart.rendering import CASES, ROOT, Case, Object, environment, needs_helm, rendered

pytestmark = needs_helm

OWN: Final = "none"
"""The row of the chart without an example."""
ROW: Final = re.compile(
    rf"^ +\| (?:\[([\w-]+)\][^|]+|({OWN})[^|]+)\| [^|]+ \| ([\d.]+) \| ([\d.]+) \|$",
    re.MULTILINE,
)
SAID: Final = {
    example or own: (cores, gibibytes)
    for example, own, cores, gibibytes in ROW.findall(
        (ROOT / "docs" / "kubernetes.md").read_text("utf-8")
    )
}
ROWS: Final[dict[str, Case]] = {OWN: (), **{name: CASES[name] for name in SAID if name != OWN}}
UNITS: Final = {"m": 1, "Mi": 1, "Gi": 1024, "g": 1024}
"""Of millicores, and of mebibytes as Kubernetes and as Java write them."""
SPARK_OPTIONS: Final = "ALDEBARAN_AUDITOR_SPARK_OPTIONS"


@dataclass(frozen=True)
class Asked:
    """What pods ask for, in thousandths of a core and in mebibytes."""

    cores: int = 0
    memory: int = 0

    def __add__(self, other: "Asked") -> "Asked":
        return Asked(self.cores + other.cores, self.memory + other.memory)

    def __mul__(self, times: int) -> "Asked":
        return Asked(self.cores * times, self.memory * times)


def millicores(written: str) -> int:
    """Return a number of cores as Kubernetes writes it."""
    return int(written[:-1]) if written.endswith("m") else round(float(written) * 1000)


def mebibytes(written: str) -> int:
    """Return an amount of memory as Kubernetes or Java writes it."""
    number, unit = re.fullmatch(r"(\d+)(\w+)", written).groups()  # type: ignore[union-attr]
    return int(number) * UNITS[unit]


def of(resources: Object) -> Asked:
    """Return what a container's resources ask for."""
    return Asked(
        millicores(resources["requests"]["cpu"]), mebibytes(resources["requests"]["memory"])
    )


def total(parts: Iterator[Asked]) -> Asked:
    """Return the sum."""
    return sum(parts, Asked())


def asked(objects: list[Object]) -> Iterator[Asked]:
    """Return what each object's pods ask for while it stands, with as few as it may have."""
    fewest = {
        each["spec"]["scaleTargetRef"]["name"]: least
        for each in objects
        for name in ("minReplicas", "minReplicaCount")
        if (least := each.get("spec", {}).get(name))
    }
    for each in objects:
        spec = each.get("spec", {})
        match each["kind"]:
            case "Deployment" | "StatefulSet":
                pod = spec["template"]["spec"]["containers"]
                replicas = spec.get("replicas") or fewest[each["metadata"]["name"]]
                yield total(of(one["resources"]) for one in pod) * replicas
                yield total(map(executors, pod))
            case "SparkApplication":
                yield driver(spec) + by_spark(spec["sparkConf"])
            case "KafkaNodePool":
                yield of(spec["resources"]) * spec["replicas"]
            case "Kafka":
                yield of(spec["entityOperator"]["topicOperator"]["resources"])
            case "Cluster":
                yield of(spec["resources"]) * spec["instances"]


def executors(container: Object) -> Asked:
    """Return what the executors ask for that a container makes, which is a driver or none."""
    options: dict[str, str] = json.loads(environment(container).get(SPARK_OPTIONS, "{}"))
    return by_spark(options) if "spark.executor.instances" in options else Asked()


def by_spark(options: dict[str, str]) -> Asked:
    """Return what executors ask for by Spark's configuration, without what Spark adds itself."""
    cores = millicores(options["spark.kubernetes.executor.request.cores"])
    memory = mebibytes(options["spark.executor.memory"])
    return Asked(cores, memory) * int(options["spark.executor.instances"])


def driver(spec: dict[str, Any]) -> Asked:
    """Return what an operator's driver asks for."""
    beside = int(spec["sparkConf"]["spark.driver.memoryOverhead"].removesuffix("m"))
    own = spec["driver"]
    return Asked(millicores(str(own["cores"])), mebibytes(own["memory"]) + beside)


def test_every_example_has_a_row() -> None:
    assert SAID.keys() - {OWN} == {name for name in CASES if "," not in name}


@pytest.mark.parametrize("name", ROWS)
def test_a_row_says_what_the_rendering_asks_for(name: str) -> None:
    found = total(asked(rendered(*ROWS[name])))
    assert SAID[name] == (f"{found.cores / 1000:g}", f"{found.memory / 1024:.1f}")
