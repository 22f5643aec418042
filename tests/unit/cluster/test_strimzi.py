"""When an object of Strimzi counts as done, and which pods are its brokers, without a cluster."""

from pathlib import Path

import pytest

from tests.cluster.kubectl import Kubectl, Object
from tests.cluster.strimzi import StrimziRelease, settled, values


def told(ready: str, seen: int) -> Object:
    """Return an object of generation 2 whose operator says this of a generation."""
    conditions = [{"type": "Ready", "status": ready}]
    status = {"observedGeneration": seen, "conditions": conditions}
    return {"metadata": {"generation": 2}, "status": status}


@pytest.mark.parametrize(
    ("each", "done"),
    [
        (told("True", 2), True),
        (told("True", 1), False),
        (told("False", 2), False),
        ({"metadata": {"generation": 1}}, False),
    ],
    ids=["done", "old", "refused", "not looked at"],
)
def test_an_object_is_done_when_its_operator_says_so_of_the_newest(
    each: Object, done: bool
) -> None:
    assert settled(each) is done


def test_brokers_are_found_by_the_operators_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, ...]] = []

    def get(self: Kubectl, kind: str, *selectors: str) -> list[Object]:
        asked.append(selectors)
        return []

    monkeypatch.setattr(Kubectl, "get", get)
    release = StrimziRelease(Kubectl("desk"), Path())
    release.pods("kafka")
    release.pods("gateway")
    assert asked[0] == ("strimzi.io/cluster=events", "strimzi.io/broker-role=true")
    assert "app.kubernetes.io/component=gateway" in asked[1]


def test_as_many_brokers_are_asked_for_as_were_named(tmp_path: Path) -> None:
    *_, last = values(tmp_path / "brokers.yaml", 3)
    assert '"replicas": 3' in last.read_text("utf-8")
