"""A release whose brokers and topics are Strimzi's, and what its operator made of them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.cluster.kubectl import Object, knows, ready, run
from tests.cluster.release import HERE, Release

CLUSTER: Final = "events"
DEFINITIONS: Final = ("kafkas", "kafkanodepools", "kafkatopics")
ASKED: Final = ("kafkas", "kafkatopics")
"""Kinds that the operator says of when they are as they were asked for."""
PARTITIONS_PROGRAM: Final = HERE / "topic_partitions.py"


class StrimziRelease(Release):
    """One whose pods of `kafka` are not the chart's, and that waits for the operator too."""

    def pods(self, component: str, *more: str) -> list[Object]:
        """Return a component's pods, the sequence of their names; brokers are found by Strimzi's
        own labels."""
        if component != "kafka":
            return super().pods(component, *more)
        labels = (f"strimzi.io/cluster={CLUSTER}", "strimzi.io/broker-role=true", *more)
        return sorted(
            self.kubectl.get("pods", *labels), key=lambda pod: str(pod["metadata"]["name"])
        )

    def unready(self) -> list[str]:
        """Return the sets, brokers and objects of Strimzi that are not as they were asked for."""
        pools = self.kubectl.get("kafkanodepools", f"strimzi.io/cluster={CLUSTER}")
        wanted = sum(pool["spec"]["replicas"] for pool in pools)
        brokers = [each for each in self.pods("kafka") if ready(each)]
        missing = ["brokers"] * (len(brokers) != wanted)
        return [*super().unready(), *missing, *self._unsettled()]

    def _unsettled(self) -> Iterator[str]:
        for kind in ASKED:
            for each in self.kubectl.get(kind):
                if not settled(each):
                    yield f"{each['kind']} {each['metadata']['name']}"

    def topics(self) -> dict[str, int]:
        """Return how many partitions each topic was asked to have, by its name in Kafka."""
        asked = [each["spec"] for each in self.kubectl.get("kafkatopics")]
        return {spec["topicName"]: int(spec["partitions"]) for spec in asked}

    def partitions(self) -> dict[str, int]:
        """Return how many partitions of each topic the brokers have."""
        pod = next(each["metadata"]["name"] for each in self.pods("gateway") if ready(each))
        told = self.kubectl.python(pod, PARTITIONS_PROGRAM.read_text("utf-8"))
        return {name: int(count) for name, count in json.loads(told).items()}


def settled(each: Object) -> bool:
    """Tell whether the operator has done what the newest version of an object asks for."""
    status = each.get("status", {})
    said = {told["type"]: told["status"] for told in status.get("conditions", [])}
    seen = status.get("observedGeneration", 0) >= each["metadata"]["generation"]
    return bool(seen and said.get("Ready") == "True")


def missing() -> str | None:
    """Say why the cluster that kubectl points at cannot run Kafka by Strimzi, or None."""
    if not knows(*(f"{each}.kafka.strimzi.io" for each in DEFINITIONS)):
        return "there are no definitions of Strimzi (kafkas.kafka.strimzi.io)"
    label = "strimzi.io/kind=cluster-operator"
    listed = run(("kubectl", "get", "pods", "--all-namespaces", "-l", label, "-o", "json"))
    if not any(ready(pod) for pod in json.loads(listed)["items"]):
        return "no pod of Strimzi's cluster operator is ready"
    return None


def values(written: Path, brokers: int) -> list[Path]:
    """Return the values' files that ask Strimzi for so many brokers."""
    text = {"kafka": {"strimzi": {"replicas": brokers}}}
    written.write_text(json.dumps(text), "utf-8")
    return [HERE / "values.yaml", HERE / "strimzi.yaml", written]
