"""What an application says of itself by OpenAPI: how a key is shown, and what a problem holds."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from services.backbone.web.problems import PROBLEM_TYPE

Ways = Sequence[Mapping[str, Sequence[str]]]
"""Ways to show who asks, one of which is enough; each names the schemes that it takes together."""

KEY_SCHEMES: Final[Mapping[str, Mapping[str, str]]] = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "`Authorization: Bearer <key>`"},
    "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
}
BY_KEY: Final[Ways] = [{name: []} for name in KEY_SCHEMES]
_PROBLEM: Final[Mapping[str, Any]] = {
    "description": "RFC 9457 problem details; some have more members",
    "type": "object",
    "required": ["title", "status", "detail"],
    "properties": {
        "title": {"type": "string", "description": "a short word for programs"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "a sentence: what is wrong, and what to do"},
    },
}


def described(answers: Mapping[int, str]) -> dict[int | str, dict[str, Any]]:
    """Return what OpenAPI says of problems: by status, in which case it is the answer."""
    content = {PROBLEM_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {status: {"description": case, "content": content} for status, case in answers.items()}


def description(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI description of an application whose every request takes a key."""
    whole = get_openapi(
        title=app.title, version=app.version, description=app.description, routes=app.routes
    )
    components = whole.setdefault("components", {})
    components.setdefault("schemas", {})["Problem"] = _PROBLEM
    components["securitySchemes"] = dict(KEY_SCHEMES)
    return whole | {"security": BY_KEY}
