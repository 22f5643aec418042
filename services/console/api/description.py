"""What the API says of itself: what the code tells, with an example of each answer."""

from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml
from fastapi import FastAPI
from fastapi.routing import APIRoute, iter_route_contexts

from services.backbone.web.description import description
from services.console.api.showing import session_schemes, ways
from services.console.people.door import Door

JSON: Final = "application/json"
_EXAMPLES: Final = Path(__file__).parent / "examples.yaml"


@cache
def examples() -> dict[str, dict[str, Any]]:
    """Return the examples: of `parameters` by name, of `answers` by method and path."""
    told: dict[str, dict[str, Any]] = yaml.safe_load(_EXAMPLES.read_text("utf-8"))
    return told


def described_api(app: FastAPI, door: Door) -> dict[str, Any]:
    """Return the application's OpenAPI description: who may ask what, and examples."""
    whole, routes = description(app), _routes(app)
    whole["components"]["securitySchemes"] |= session_schemes(door)
    for path, operations in whole["paths"].items():
        for method, operation in operations.items():
            request = f"{method.upper()} {path}"
            operation["security"] = ways(routes[request], door)
            _add_examples(operation, request)
    return whole


def _routes(app: FastAPI) -> dict[str, APIRoute]:
    found = (each.original_route for each in iter_route_contexts(app.routes))
    return {
        f"{method} {each.path}": each
        for each in found
        if isinstance(each, APIRoute)
        for method in each.methods or ()
    }


def _add_examples(operation: dict[str, Any], request: str) -> None:
    told = examples()
    for each in operation.get("parameters", ()):
        if each["name"] in told["parameters"]:
            each["example"] = told["parameters"][each["name"]]
    for status, answer in operation["responses"].items():
        content = answer.get("content", {}).get(JSON)
        if status.startswith("2") and content is not None and request in told["answers"]:
            content["example"] = told["answers"][request]
