"""What Twilio's client sends, and what is made of answers, without a network."""

from collections.abc import Callable

import httpx2
import pytest

from services.deliverer.channels.sms import carrier as carriers
from services.deliverer.channels.sms.carrier import Carrier, TooLarge


def carrying(answer: Callable[[httpx2.Request], httpx2.Response], url: str) -> Carrier:
    client = httpx2.Client(transport=httpx2.MockTransport(answer))
    return Carrier(client, url, httpx2.Timeout(1), lambda: None)


def test_requests_go_to_the_configured_place_and_are_not_repeated() -> None:
    seen: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return httpx2.Response(503, headers={"Retry-After": "5"}, text="busy")

    carrier = carrying(answer, "https://api.dublin.ie1.twilio.com/base")
    said = carrier.request(
        "POST",
        "https://api.twilio.com/2010-04-01/Accounts/AC1/Messages.json?Page=1",
        data={"Body": "ten seen"},
        auth=("AC1", "token"),
        timeout=None,
        allow_redirects=False,
    )
    (request,) = seen
    assert str(request.url) == (
        "https://api.dublin.ie1.twilio.com/base/2010-04-01/Accounts/AC1/Messages.json?Page=1"
    )
    assert request.read() == b"Body=ten+seen"
    assert request.headers["authorization"].startswith("Basic ")
    assert said.status_code == 503
    assert carrier.answer is not None
    assert carrier.answer.headers.get("retry-after") == "5"


def test_redirects_are_not_followed_and_huge_answers_not_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(carriers, "ANSWER_LIMIT_BYTES", 100)
    moved = httpx2.Response(307, headers={"Location": "https://elsewhere.example"})
    carrier = carrying(lambda _: moved, "https://a.example")
    assert carrier.request("POST", "https://api.twilio.com/x").status_code == 307
    huge = carrying(lambda _: httpx2.Response(200, content=b"x" * 101), "https://a.example")
    with pytest.raises(TooLarge):
        huge.request("GET", "https://api.twilio.com/x")
