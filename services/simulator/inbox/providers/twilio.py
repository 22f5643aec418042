"""Twilio's Messages API: creates and lists messages, and calls back, signed, as they go on.

Account and token are the constants below. Numbers that Twilio's own test account refuses are
refused here too: +15005550001 (21211), +15005550009 (21614), +15005550004 (21610), and so on.
"""

import json
import random
from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl

from services.simulator.inbox.provider import Desk, ProviderAnswer, ProviderRequest, Sending
from services.simulator.inbox.texting.answers import (
    Problem,
    is_authorized,
    page,
    problem,
    refusal,
    wrong,
)
from services.simulator.inbox.texting.callbacks import Caller
from services.simulator.inbox.texting.faults import TextingFaults
from services.simulator.inbox.texting.messages import Messages, delivery_of

PREFIX: Final = "/2010-04-01"
DIALS: Final = TextingFaults()
ACCOUNT_SID: Final = "AC" + "0" * 31 + "1"
AUTH_TOKEN: Final = "inbox-token"  # noqa: S105 - a stand-in's, known to everybody
_MESSAGES: Final = f"/Accounts/{ACCOUNT_SID}/Messages"


class Twilio:
    """One account with its messages."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._rng = random.Random()
        self._messages = Messages(desk.clock, ACCOUNT_SID)
        self._caller = Caller(AUTH_TOKEN, desk.later)

    def read(self, request: ProviderRequest) -> Sending | ProviderAnswer:
        """Check who asks; answer questions; return what is to be sent."""
        if not is_authorized(request.headers.get("authorization", ""), ACCOUNT_SID, AUTH_TOKEN):
            return problem(Problem(401, 20003, "Authenticate"))
        if request.method == "GET":
            return self._show(request)
        if request.path != f"{_MESSAGES}.json":
            return _not_found(request)
        form = _form(request)
        trouble = wrong(form)
        if trouble is not None:
            return problem(trouble)
        return Sending(delivery_of(form), f"{form['To']}: {form['Body']}")

    def take(self, request: ProviderRequest, sending: Sending) -> ProviderAnswer:
        """Keep the message and begin its way to the phone, as the dials say."""
        faults = self._faults()
        form = _form(request)
        message = self._messages.add(form, hidden_seconds=faults.list_hides_seconds)
        lost = self._rng.random() < faults.undelivered_share
        answer = ProviderAnswer(201, json.dumps(message.shown()).encode())
        self._caller.call(message, form.get("StatusCallback", ""), faults.course(lost), faults)
        return answer

    def refuse(self, status: int) -> ProviderAnswer:
        """Word a refusal as Twilio does."""
        return problem(refusal(status))

    def _show(self, request: ProviderRequest) -> ProviderAnswer:
        if request.path == f"{_MESSAGES}.json":
            return page(self._messages.listed(request.query.get("To", "")), request)
        sid = request.path.removeprefix(f"{_MESSAGES}/").removesuffix(".json")
        message = self._messages.get(sid)
        if message is None:
            return _not_found(request)
        return ProviderAnswer(200, json.dumps(message.shown()).encode())

    def _faults(self) -> TextingFaults:
        faults = self._desk.faults()
        return faults if isinstance(faults, TextingFaults) else DIALS


def _form(request: ProviderRequest) -> Mapping[str, str]:
    return dict(parse_qsl(request.body.decode(errors="replace"), keep_blank_values=True))


def _not_found(request: ProviderRequest) -> ProviderAnswer:
    message = f"The requested resource {PREFIX}{request.path} was not found"
    return problem(Problem(404, 20404, message))


def open_provider(desk: Desk) -> Twilio:
    """Make the provider."""
    return Twilio(desk)
