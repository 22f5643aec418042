"""What the gateway says of itself to programs: /openapi.json."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from services.backbone.web.problems import PROBLEM_TYPE

EVENTS_PATH: Final = "/v1/streams/{stream}/events"
_HERE: Final = Path(__file__).parent


def problems(answers: Mapping[int, str]) -> dict[int | str, dict[str, Any]]:
    """Return what a page answers in place of itself: by status, in which case."""
    content = {PROBLEM_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {status: {"description": case, "content": content} for status, case in answers.items()}


def description(app: FastAPI, *, with_key: bool) -> dict[str, Any]:
    """Return the application's OpenAPI description."""
    whole = get_openapi(title=app.title, version=app.version, routes=app.routes)
    whole["paths"][EVENTS_PATH] = _read("events_path.yaml")
    components = whole.setdefault("components", {})
    components.setdefault("schemas", {}).update(_read("schemas.yaml"))
    if with_key:
        schemes = components["securitySchemes"] = _read("security_schemes.yaml")
        whole["security"] = [{name: []} for name in schemes]
    return whole


def _read(name: str) -> Any:
    return yaml.safe_load((_HERE / name).read_text("utf-8"))
