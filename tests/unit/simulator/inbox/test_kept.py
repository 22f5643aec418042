"""What the players keep is bounded, and the oldest is forgotten first."""

import json
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from services.backbone.clock import ManualClock
from services.simulator.inbox.apns.phones import Phones
from services.simulator.inbox.apns.rules import Push
from services.simulator.inbox.faults import Faults
from services.simulator.inbox.provider import (
    KEPT_LIMIT,
    Desk,
    Provider,
    ProviderRequest,
    Sending,
)
from services.simulator.inbox.providers.nrdp import TOKEN, Nrdp
from services.simulator.inbox.providers.pagerduty import PagerDuty

MORE = KEPT_LIMIT + 5


def ask(provider: Provider, method: str, path: str, body: bytes = b"") -> Any:
    request = ProviderRequest(method, path, {}, {}, body)
    read = provider.read(request)
    answer = provider.take(request, read) if isinstance(read, Sending) else read
    return json.loads(answer.body)


def event(number: int, action: str = "trigger") -> bytes:
    payload = {"summary": f"too many of {number}", "source": "aldebaran", "severity": "info"}
    said = {"routing_key": "a" * 32, "event_action": action, "dedup_key": str(number)}
    return json.dumps(said | {"payload": payload}).encode()


def test_pagerduty_keeps_the_newest_incidents_and_joins_what_is_not_resolved() -> None:
    provider = PagerDuty()
    for number in range(MORE):
        ask(provider, "POST", "/v2/enqueue", event(number))
    ask(provider, "POST", "/v2/enqueue", event(MORE - 1))
    ask(provider, "POST", "/v2/enqueue", event(MORE - 1, "resolve"))
    ask(provider, "POST", "/v2/enqueue", event(MORE - 1))
    ask(provider, "POST", "/v2/enqueue", event(0))
    shown = ask(provider, "GET", "/incidents")
    assert len(shown) == KEPT_LIMIT
    assert [(each["dedup_key"], each["status"], each["triggers"]) for each in shown[-3:]] == [
        (str(MORE - 1), "resolved", 2),
        (str(MORE - 1), "triggered", 1),
        ("0", "triggered", 1),
    ]


def test_nrdp_keeps_the_newest_results() -> None:
    provider = Nrdp(Desk(ManualClock(), Faults, lambda *_: None, lambda *_: None))
    results = [{"hostname": "a", "output": str(number)} for number in range(MORE)]
    data = json.dumps({"checkresults": results})
    form = {"token": TOKEN, "cmd": "submitcheck", "json": data}
    ask(provider, "POST", "/", urlencode(form).encode())
    shown = ask(provider, "GET", "/results")
    assert [each["output"] for each in shown] == [str(each) for each in range(5, MORE)]


def test_a_phone_keeps_the_newest_that_it_has_shown_and_lost() -> None:
    phones, push = Phones(), Push("a" * 64, "app", "", "", 0, {"aps": {"alert": "ten seen"}})
    for offline in (False, True):
        for number in range(MORE):
            phones.push(replace(push, collapse_id=str(number)), offline)
    (phone,) = phones.seen(offline=True).values()
    assert list(phone["screen"]) == [str(each) for each in range(5, MORE)]
    assert phone["lost"] == [str(each) for each in range(4, MORE - 1)]
