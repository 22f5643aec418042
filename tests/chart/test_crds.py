"""What the chart asks operators for is what their definitions know.

`tests/chart/crds.py` tells where the schemas come from.
"""

import json
import re
from copy import deepcopy
from functools import cache

import jsonschema_rs
import pytest

from tests.chart.crds import NEEDED, SCHEMAS, compact, file_of, strict
from tests.chart.rendering import CASES, Case, Object, every_case, needs_helm, rendered

KUBERNETES = re.compile(r"(\w+|(networking|rbac\.authorization)\.k8s\.io)/v\d|v1")
"""API versions that every Kubernetes has; their schemas are kubernetes-validate's."""
KINDS = sorted(NEEDED)


@cache
def validator(version: str, kind: str) -> jsonschema_rs.Draft7Validator:
    """Return what holds an object against its operator's definition."""
    return jsonschema_rs.Draft7Validator(json.loads(file_of(version, kind).read_text("utf-8")))


def of_operators(case: Case) -> list[Object]:
    """Return the objects whose kinds an operator brings."""
    return [each for each in rendered(*case) if not KUBERNETES.fullmatch(each["apiVersion"])]


def faults(made: Object) -> list[str]:
    """Return what the definition does not take of an object."""
    found = validator(made["apiVersion"], made["kind"]).iter_errors(made)
    return [f"{made['kind']}: {'/'.join(map(str, e.instance_path))}: {e.message}" for e in found]


@needs_helm
@every_case
def test_objects_fit_their_operators_definitions(case: Case) -> None:
    assert [fault for made in of_operators(case) for fault in faults(made)] == []


@needs_helm
def test_every_kind_is_tried_and_none_is_left_over() -> None:
    made = {(e["apiVersion"], e["kind"]) for case in CASES.values() for e in of_operators(case)}
    assert made == NEEDED
    assert {path.name for path in SCHEMAS.glob("*.json")} == {file_of(*each).name for each in KINDS}


@needs_helm
@pytest.mark.parametrize(("version", "kind"), KINDS, ids=map("/".join, KINDS))
def test_a_field_that_nobody_knows_is_found(version: str, kind: str) -> None:
    made = next(
        each
        for case in CASES.values()
        for each in of_operators(case)
        if (each["apiVersion"], each["kind"]) == (version, kind)
    )
    wrong = deepcopy(made)
    wrong["spec"]["colour"] = "grey"
    assert faults(made) == []
    assert any("colour" in fault for fault in faults(wrong))


def test_parts_that_repeat_are_written_once_and_mean_the_same() -> None:
    inner = {"type": "object", "properties": {f"name{n}": {"type": "string"} for n in range(9)}}
    whole = strict({"type": "object", "properties": {name: inner for name in ("a", "b")}})
    short = compact(whole)
    assert short["properties"]["a"] == short["properties"]["b"] == {"$ref": "#/definitions/part0"}
    for made, fits in (({"a": {"name1": "x"}}, True), ({"b": {"name": "x"}}, False)):
        for schema in (whole, short):
            assert jsonschema_rs.Draft7Validator(schema).is_valid(made) is fits
