"""The API's description: every request has examples, and they are of the types it answers with."""

from types import SimpleNamespace
from typing import Any

import pytest
from fastapi import FastAPI
from pydantic import TypeAdapter

from services.backbone.clock import SystemClock
from services.backbone.health import Health
from services.console.api.description import JSON, described_api, examples
from services.console.app import create_app
from services.console.people.door import Door
from tests.unit.console.declared import api_routes

NO_SESSIONS: Any = SimpleNamespace()
DOOR = Door(NO_SESSIONS)


def application() -> FastAPI:
    desk: Any = SimpleNamespace(health=Health(), clock=SystemClock())
    return create_app(desk, DOOR)


APP = application()
ROUTES = {
    f"{method} {each.path}": each
    for each in api_routes(APP)
    if each.include_in_schema
    for method in each.methods or ()
}


@pytest.mark.parametrize("request_line", examples()["answers"])
def test_each_example_is_what_the_request_answers(request_line: str) -> None:
    told = examples()["answers"][request_line]
    kind: TypeAdapter[Any] = TypeAdapter(ROUTES[request_line].response_model)
    assert kind.dump_python(kind.validate_python(told), mode="json") == told


def test_every_request_has_examples() -> None:
    bare = []
    for path, operations in described_api(APP, DOOR)["paths"].items():
        for method, operation in operations.items():
            for status, answer in operation["responses"].items():
                content = answer.get("content", {}).get(JSON)
                if status.startswith("2") and content is not None and "example" not in content:
                    bare.append(f"{method.upper()} {path} {status}")
            bare += [
                f"{method.upper()} {path} {each['name']}"
                for each in operation.get("parameters", ())
                if each["in"] == "path" and "example" not in each
            ]
    assert not bare
    assert APP.openapi() == described_api(APP, DOOR)


def test_every_answer_says_what_it_holds() -> None:
    untold = [
        f"{method.upper()} {path} {status}"
        for path, operations in APP.openapi()["paths"].items()
        for method, operation in operations.items()
        for status, answer in operation["responses"].items()
        if JSON in answer.get("content", {}) and not _is_told(answer["content"][JSON]["schema"])
    ]
    assert not untold


def _is_told(schema: dict[str, Any]) -> bool:
    """Tell whether a schema names a model: any object would fit one that does not."""
    return "$ref" in schema or (schema.get("type") == "array" and _is_told(schema["items"]))


def test_every_request_says_what_a_problem_holds() -> None:
    whole = APP.openapi()
    assert set(whole["components"]["schemas"]["Problem"]["properties"]) == {
        "title",
        "status",
        "detail",
    }
    for operations in whole["paths"].values():
        for operation in operations.values():
            problems = {s: each for s, each in operation["responses"].items() if s >= "4"}
            assert problems.keys() >= {"401", "408", "500", "503"}
            for each in problems.values():
                (content,) = each["content"].values()
                assert content["schema"] == {"$ref": "#/components/schemas/Problem"}
