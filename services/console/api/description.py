"""What the API says of itself: what the code tells, with an example of each answer."""

from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

JSON: Final = "application/json"
_EXAMPLES: Final = Path(__file__).parent / "examples.yaml"


@cache
def examples() -> dict[str, dict[str, Any]]:
    """Return the examples: of `parameters` by name, of `answers` by method and path."""
    told: dict[str, dict[str, Any]] = yaml.safe_load(_EXAMPLES.read_text("utf-8"))
    return told


def described_api(app: FastAPI) -> dict[str, Any]:
    """Return the application's OpenAPI description with examples."""
    whole = get_openapi(
        title=app.title, version=app.version, description=app.description, routes=app.routes
    )
    for path, operations in whole["paths"].items():
        for method, operation in operations.items():
            _add_examples(operation, f"{method.upper()} {path}")
    return whole


def _add_examples(operation: dict[str, Any], request: str) -> None:
    told = examples()
    for each in operation.get("parameters", ()):
        if each["name"] in told["parameters"]:
            each["example"] = told["parameters"][each["name"]]
    for status, answer in operation["responses"].items():
        content = answer.get("content", {}).get(JSON)
        if status.startswith("2") and content is not None and request in told["answers"]:
            content["example"] = told["answers"][request]
