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
from tests.unit.console.declared import api_routes


def application() -> FastAPI:
    desk: Any = SimpleNamespace(health=Health(), clock=SystemClock())
    door: Any = SimpleNamespace()
    return create_app(desk, door)


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
    for path, operations in described_api(APP)["paths"].items():
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
    assert APP.openapi() == described_api(APP)
