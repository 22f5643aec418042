"""The stand-in of the text message provider: it answers, lists and goes on as the real one does."""

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from services.backbone.clock import ManualClock
from services.simulator.inbox.provider import Desk, ProviderAnswer, ProviderRequest, Sending
from services.simulator.inbox.providers.twilio import ACCOUNT_SID, AUTH_TOKEN, DIALS, Twilio
from services.simulator.inbox.texting.faults import TextingFaults

PATH = f"/Accounts/{ACCOUNT_SID}/Messages.json"
LOGIN = base64.b64encode(f"{ACCOUNT_SID}:{AUTH_TOKEN}".encode()).decode()


@dataclass
class Account:
    """The provider at a desk where later work is done at once."""

    faults: TextingFaults = DIALS
    clock: ManualClock = field(default_factory=ManualClock)

    def __post_init__(self) -> None:
        def at_once(_: float, work: Callable[[], None]) -> None:
            work()

        desk = Desk(self.clock, lambda: self.faults, at_once, lambda arrival, line: None)
        self.provider = Twilio(desk)

    def ask(self, method: str, path: str, login: str = LOGIN, **form: str) -> Any:
        url = urlsplit(path)
        request = ProviderRequest(
            method,
            url.path,
            dict(parse_qsl(url.query)),
            {"authorization": f"Basic {login}"},
            urlencode(form).encode(),
        )
        read = self.provider.read(request)
        answer = self.provider.take(request, read) if isinstance(read, Sending) else read
        return Shown.of(answer)

    def send(self, to: str = "+41791234567", **more: str) -> Any:
        form = {"To": to, "From": "+15005550006", "Body": "ten seen\n#0123456789"} | more
        return self.ask("POST", PATH, **form)


@dataclass
class Shown:
    status: int
    body: dict[str, Any]

    @staticmethod
    def of(answer: ProviderAnswer) -> "Shown":
        return Shown(answer.status, json.loads(answer.body))


def test_a_message_is_created_queued_and_goes_on_to_its_end() -> None:
    account = Account()
    created = account.send()
    assert (created.status, created.body["status"]) == (201, "queued")
    sid = created.body["sid"]
    shown = account.ask("GET", f"/Accounts/{ACCOUNT_SID}/Messages/{sid}.json")
    assert shown.body["status"] == "delivered"
    account.faults = TextingFaults(undelivered_share=1, error_code=30005, callbacks_reversed=True)
    lost = account.send().body["sid"]
    shown = account.ask("GET", f"/Accounts/{ACCOUNT_SID}/Messages/{lost}.json")
    assert (shown.body["status"], shown.body["error_code"]) == ("undelivered", 30005)


@pytest.mark.parametrize(
    ("form", "status", "code"),
    [
        ({"to": "+15005550001"}, 400, 21211),
        ({"to": "0791234567"}, 400, 21211),
        ({"to": "+15005550004"}, 400, 21610),
        ({"to": "+15005550009"}, 400, 21614),
        ({"to": ""}, 400, 21604),
        ({"From": ""}, 400, 21603),
        ({"Body": ""}, 400, 21602),
        ({"Body": "x" * 1601}, 400, 21617),
        ({"From": "+15005550007"}, 400, 21606),
        ({"From": "+15005550008"}, 429, 21611),
    ],
)
def test_what_twilio_refuses_is_refused_with_its_code(
    form: dict[str, str], status: int, code: int
) -> None:
    answer = Account().send(**form)
    assert (answer.status, answer.body["code"]) == (status, code)


def test_nobody_else_gets_in() -> None:
    account = Account()
    assert account.ask("POST", PATH, login="x").body["code"] == 20003
    assert account.ask("GET", "/Accounts/AC2/Messages.json").status == 404


def test_the_list_shows_the_newest_first_by_recipient_and_page() -> None:
    account = Account()
    sids = [account.send().body["sid"] for _ in range(5)]
    account.send("+41790000000")
    found = account.ask("GET", f"{PATH}?To=%2B41791234567&PageSize=2").body
    assert [each["sid"] for each in found["messages"]] == sids[:2:-1]
    following = found["next_page_uri"].removeprefix("/2010-04-01")
    rest = account.ask("GET", following).body
    assert [each["sid"] for each in rest["messages"]] == sids[2:0:-1]
    last = account.ask("GET", rest["next_page_uri"].removeprefix("/2010-04-01")).body
    assert (len(last["messages"]), last["next_page_uri"]) == (1, None)
    assert len(account.ask("GET", PATH).body["messages"]) == 6


def test_the_list_may_be_late() -> None:
    account = Account(TextingFaults(list_hides_seconds=30))
    account.send()
    assert account.ask("GET", PATH).body["messages"] == []
    account.clock.move(30)
    assert len(account.ask("GET", PATH).body["messages"]) == 1


def test_a_message_is_counted_by_its_callback_or_else_by_its_code() -> None:
    def read(**form: str) -> Sending | ProviderAnswer:
        headers = {"authorization": f"Basic {LOGIN}"}
        body = urlencode({"To": "+41791234567", "From": "+1500", "Body": "x"} | form).encode()
        return Account().provider.read(ProviderRequest("POST", PATH, {}, headers, body))

    told = read(StatusCallback="https://a.example/twilio/abc?attempt=1#rc=5")
    assert isinstance(told, Sending)
    assert told.delivery_id == "abc"
    coded = read(Body="ten seen\n#0123456789")
    assert isinstance(coded, Sending)
    assert coded.delivery_id == "0123456789"
