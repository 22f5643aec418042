"""No application leads to another spelling of a path: a key would follow, maybe in the clear."""

from types import SimpleNamespace
from typing import Any, Final

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from services.backbone.clock import ManualClock, SystemClock
from services.backbone.health import Health, health_app
from services.backbone.service import Life
from services.callbacks.app import create_app as callbacks
from services.callbacks.providers.twilio import Twilio
from services.callbacks.settings import CallbacksSettings
from services.console.app import create_app as console
from services.heartbeat.agreement import Shown
from services.heartbeat.pages import create_app as heartbeat
from services.lookout.api.app import create_app as lookout
from services.lookout.api.operators import Operators
from services.simulator.inbox.pages import inbox_app
from tests.unit.gateway.surroundings import EVENTS, MemoryWriter, gateway

HERE: Final = "http://localhost"


def gateways() -> Starlette:
    with gateway(MemoryWriter()) as it:
        return it.app


ANY: Final[Any] = SimpleNamespace(health=Health(), clock=SystemClock())
TWILIO: Final = Twilio(["12345"], "https://hooks.example.org")
APPS: Final[dict[str, Starlette]] = {
    f"{EVENTS}/": gateways(),
    "/v1/silences/": console(ANY, ANY),
    "/silences/": lookout(ANY, Operators(None), Health()),
    "/twilio/0123/": callbacks([TWILIO], ANY, ManualClock(), CallbacksSettings()),
    "/dials/": inbox_app(Health(), ANY),
    "/v1/disagreements/": heartbeat(Life(), Shown()),
    "/healthz/live/": health_app(Health()),
}


@pytest.mark.parametrize("path", APPS)
def test_a_slash_too_many_is_no_page_and_leads_nowhere(path: str) -> None:
    client = TestClient(APPS[path], HERE, follow_redirects=False)
    for answer in (client.get(path), client.post(path)):
        assert (answer.status_code, answer.headers.get("location")) == (404, None)


def test_a_person_is_shown_that_there_is_no_such_page() -> None:
    answer = TestClient(APPS["/v1/silences/"], HERE, follow_redirects=False).get("/silences/")
    assert answer.status_code == 404
    assert "no such page" in answer.text
