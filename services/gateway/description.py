"""What the gateway says of itself to programs: /openapi.json."""

from pathlib import Path
from typing import Any, Final

import yaml
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from services.backbone.web.description import BY_KEY, KEY_SCHEMES

EVENTS_PATH: Final = "/v1/streams/{stream}/events"
_HERE: Final = Path(__file__).parent


def description(app: FastAPI, *, with_key: bool) -> dict[str, Any]:
    """Return the application's OpenAPI description."""
    whole = get_openapi(title=app.title, version=app.version, routes=app.routes)
    whole["paths"][EVENTS_PATH] = _read("events_path.yaml")
    components = whole.setdefault("components", {})
    components.setdefault("schemas", {}).update(_read("schemas.yaml"))
    if with_key:
        components["securitySchemes"] = KEY_SCHEMES
        whole["security"] = BY_KEY
    return whole


def _read(name: str) -> Any:
    return yaml.safe_load((_HERE / name).read_text("utf-8"))
