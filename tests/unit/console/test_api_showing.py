"""Who may ask what by the API is what its description says: each request, each way to show who."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, Final

import httpx2
import pytest
from fastapi import FastAPI
from structlog.testing import capture_logs

from services.backbone.clock import SystemClock
from services.backbone.health import Health
from services.backbone.web.keys import ApiKey, Keys, key_hash
from services.console.app import create_app
from services.console.people.door import Door
from services.console.people.roles import Person, Role
from services.console.people.sessions import form_word

SHOWN: Final[Mapping[str, Mapping[str, str]]] = {
    "bearer": {"Authorization": "Bearer secret"},
    "header": {"X-API-Key": "secret"},
    "session": {"Cookie": "aldebaran=token"},
    "word": {"X-Form-Word": form_word("token")},
}
CALLERS: Final = [(), ("bearer",), ("header",), ("session",), ("session", "word")]


class OneSession:
    """An admin's."""

    def find(self, token: str, *, is_use: bool = True) -> Person | None:
        return Person("boss", Role.ADMIN, "page", token) if token == "token" else None


def application(*, open_to_readers: bool) -> FastAPI:
    """Return a console that knows one key and one session, and has nothing to show."""
    desk: Any = SimpleNamespace(health=Health(), clock=SystemClock())
    sessions: Any = OneSession()
    keys = Keys([ApiKey(name="robot", sha256=key_hash("secret"))], SystemClock())
    return create_app(desk, Door(sessions, keys, open_to_readers=open_to_readers))


async def let_in(
    client: httpx2.AsyncClient, method: str, path: str, caller: tuple[str, ...]
) -> bool:
    """Tell whether a request gets beyond the question who asks, by what a caller shows."""
    headers = {name: value for each in caller for name, value in SHOWN[each].items()}
    answer = await client.request(method, path, headers=headers)
    return answer.status_code not in (401, 403)


def filled(path: str, operation: Mapping[str, Any]) -> str:
    """Return a path with its parameters' examples."""
    for each in operation.get("parameters", ()):
        path = path.replace(f"{{{each['name']}}}", str(each.get("example", "")))
    return path


@pytest.mark.parametrize("open_to_readers", [True, False])
async def test_the_description_says_who_may_ask(open_to_readers: bool) -> None:
    app = application(open_to_readers=open_to_readers)
    transport = httpx2.ASGITransport(app)
    said, found = {}, {}
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
        for path, operations in app.openapi()["paths"].items():
            for method, operation in operations.items():
                for caller in CALLERS:
                    asked = (method, path, caller)
                    said[asked] = any(set(way) <= set(caller) for way in operation["security"])
                    with capture_logs():
                        place = filled(path, operation)
                        found[asked] = await let_in(client, method, place, caller)
    assert found == said
    assert found["get", "/v1/alerts", ()] == open_to_readers
    assert found["get", "/v1/audit", ("session",)]


def test_the_description_says_how_a_key_and_a_session_are_sent() -> None:
    schemes = application(open_to_readers=True).openapi()["components"]["securitySchemes"]
    assert {name: each.get("name", each.get("scheme")) for name, each in schemes.items()} == {
        "bearer": "bearer",
        "header": "X-API-Key",
        "session": "aldebaran",
        "word": "x-form-word",
    }
