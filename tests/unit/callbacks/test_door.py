"""The door without a ledger: what each kind of request is answered."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from starlette.testclient import TestClient
from structlog.testing import capture_logs

from services.backbone.clock import ManualClock
from services.backbone.errors import Transient
from services.backbone.ledger.deliveries.evidence import Evidence
from services.backbone.ledger.deliveries.moves import Move
from services.backbone.seldom import EVERY_SECONDS
from services.callbacks.app import create_app
from services.callbacks.providers.twilio import Twilio
from services.callbacks.settings import CallbacksSettings
from services.contracts.states import State
from services.simulator.inbox.texting.callbacks import signature

TOKEN = "12345"
PUBLIC = "https://hooks.example.org"
KNOWN = "0123456789abcdef0123456789abcdef"
UNKNOWN = "f" * 32
FORM = {"MessageSid": "SM1", "MessageStatus": "delivered", "To": "+41791234567"}


@dataclass
class Book:
    """Keeps evidence of one known delivery."""

    away: bool = False
    given: list[Evidence] = field(default_factory=list)

    def give(self, evidence: Sequence[Evidence]) -> list[Move]:
        if self.away:
            raise Transient("Postgres: connection to postgres://secret refused")
        known = [each for each in evidence if each.delivery_id == KNOWN]
        self.given += known
        path = (State.CONFIRMED,)
        return [
            Move(KNOWN, "a", "sms", "+4179", 1, State.SENT, path, "why", each.provider_id)
            for each in known
        ]


@pytest.fixture
def book() -> Book:
    return Book()


@pytest.fixture
def client(book: Book) -> TestClient:
    app = create_app([Twilio([TOKEN], PUBLIC)], book, ManualClock(), CallbacksSettings())
    return TestClient(app, raise_server_exceptions=False)


def call(client: TestClient, delivery_id: str, token: str = TOKEN) -> tuple[int, str]:
    path = f"/twilio/{delivery_id}?attempt=1"
    headers = {"X-Twilio-Signature": signature(PUBLIC + path, FORM, token)}
    response = client.post(path, data=FORM, headers=headers)
    return response.status_code, response.text


def test_what_the_ledger_has_is_answered_204(client: TestClient, book: Book) -> None:
    assert call(client, KNOWN) == (204, "")
    assert call(client, KNOWN) == (204, "")
    assert [each.provider_id for each in book.given] == ["SM1", "SM1"]


def test_while_the_ledger_is_away_the_provider_is_to_say_it_again(
    client: TestClient, book: Book
) -> None:
    book.away = True
    status, text = call(client, KNOWN)
    assert status == 503
    assert "say it again" in text
    assert "secret" not in text
    book.away = False
    assert call(client, KNOWN) == (204, "")


def test_a_forged_one_is_not_believed_and_the_ledger_not_asked(
    client: TestClient, book: Book
) -> None:
    book.away = True
    assert call(client, KNOWN, token="another")[0] == 403
    assert client.post(f"/twilio/{KNOWN}", data=FORM).status_code == 403


def test_strangers_write_a_line_a_minute_and_not_one_a_request(book: Book) -> None:
    clock = ManualClock()
    app = create_app([Twilio([TOKEN], PUBLIC)], book, clock, CallbacksSettings())
    with TestClient(app) as client, capture_logs() as told:
        for _ in range(100):
            assert client.post(f"/twilio/{KNOWN}", data=FORM).status_code == 403
        clock.move(EVERY_SECONDS)
        assert client.post(f"/twilio/{KNOWN}", data=FORM).status_code == 403
    assert [(each["event"], each["left_out"]) for each in told] == [
        ("callback_forged", 0),
        ("callback_forged", 99),
    ]


def test_an_unknown_delivery_is_named_so(client: TestClient) -> None:
    assert call(client, UNKNOWN)[0] == 404
    assert call(client, "no-id")[0] == 404


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", f"/twilio/{KNOWN}", 405), ("POST", "/other/x", 404), ("GET", "/", 404)],
)
def test_other_requests_are_answered(
    client: TestClient, method: str, path: str, status: int
) -> None:
    response = client.request(method, path)
    assert response.status_code == status
    assert response.json()["status"] == status


def test_health_and_metrics_are_not_for_the_public(client: TestClient) -> None:
    assert client.get("/metrics").status_code == 404
    assert client.get("/healthz/ready").status_code == 404


def test_a_body_that_is_too_large_is_not_read(client: TestClient) -> None:
    def endless() -> "Sequence[bytes]":
        return [b"a=" + b"x" * 40_000, b"x" * 40_000]

    path = f"/twilio/{KNOWN}"
    assert client.post(path, content=b"x" * 70_000).status_code == 413
    assert client.post(path, content=iter(endless())).status_code == 413
    assert client.post(path, content=b"", headers={"Content-Length": "-1"}).status_code == 413
