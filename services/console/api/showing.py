"""How a request of the API shows who asks, as OpenAPI has it; told by what its route asks for."""

from collections.abc import Mapping
from typing import Final

from fastapi.routing import APIRoute

from services.backbone.web.description import BY_KEY, Ways
from services.console.people.door import (
    FORM_WORD_HEADER,
    Door,
    admin_calls,
    admin_looks,
    responder_calls,
)

_SESSION: Final[Mapping[str, list[str]]] = {"session": []}
_PAGE: Final[Mapping[str, list[str]]] = {"session": [], "word": []}


def session_schemes(door: Door) -> dict[str, dict[str, str]]:
    """Return what a browser sends that has logged in, and what a script of a page adds."""
    return {
        "session": {
            "type": "apiKey",
            "in": "cookie",
            "name": door.cookie,
            "description": "of somebody who has logged in by the page",
        },
        "word": {
            "type": "apiKey",
            "in": "header",
            "name": FORM_WORD_HEADER,
            "description": "the word in the forms of the session's pages",
        },
    }


def ways(route: APIRoute, door: Door) -> Ways:
    """Return the ways to show who asks; an empty one is nobody in particular.

    An operator's key has the role responder, so what is for admins takes a session.
    """
    asked = {each.call for each in route.dependant.dependencies}
    if admin_looks in asked:
        return [_SESSION]
    if admin_calls in asked:
        return [_PAGE]
    if responder_calls in asked:
        return [*BY_KEY, _PAGE]
    return [*BY_KEY, _SESSION, *([{}] if door.open_to_readers else [])]
