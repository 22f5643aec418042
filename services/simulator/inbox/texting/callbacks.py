"""Calls back as the messages go on: signed forms, repeated as the address's fragment asks."""

import base64
import hashlib
import hmac
from collections.abc import Callable, Mapping, Sequence
from typing import Final
from urllib.parse import parse_qs, urldefrag, urlencode

import httpx2

from services.simulator.inbox.texting.faults import TextingFaults
from services.simulator.inbox.texting.messages import TextMessage

TIMEOUT_SECONDS: Final = 5.0
STEP_SECONDS: Final = 0.05
"""Between two statuses."""
RETRY_SECONDS: Final = 1.0
RETRIES_LIMIT: Final = 5
_FORM: Final = "application/x-www-form-urlencoded; charset=utf-8"

Later = Callable[[float, Callable[[], None]], None]


class Caller:
    """Calls one account's status callbacks."""

    def __init__(self, token: str, later: Later) -> None:
        self._token = token
        self._later = later

    def call(
        self, message: TextMessage, address: str, course: Sequence[str], faults: TextingFaults
    ) -> None:
        """Take the message through its statuses: first calls before this returns, or all later.

        Without callbacks it goes through them all the same.
        """
        told = address if faults.callbacks != "never" else ""
        token = f"not {self._token}" if faults.callbacks_forged else self._token

        def step(index: int) -> None:
            if index < len(course):
                message.go_on(course[index], faults.error_code)
                self._post(told, fields(message, course[index]), token)
                follow(lambda: step(index + 1))

        def follow(work: Callable[[], None]) -> None:
            if faults.callbacks == "before":
                work()
            else:
                self._later(STEP_SECONDS, work)

        follow(lambda: step(0))

    def _post(self, address: str, form: Mapping[str, str], token: str, tried: int = 0) -> None:
        """Post one callback; later again, while the address asks for it by `rc`."""
        url, overrides = urldefrag(address)
        if not url or is_told(url, form, token):
            return
        asked = parse_qs(overrides).get("rc", ["0"])[0]
        if tried < min(int(asked) if asked.isdecimal() else 0, RETRIES_LIMIT):
            self._later(RETRY_SECONDS, lambda: self._post(address, form, token, tried + 1))


def fields(message: TextMessage, status: str) -> dict[str, str]:
    """Return the form of one callback."""
    form = {
        "AccountSid": message.account_sid,
        "ApiVersion": "2010-04-01",
        "From": message.form.get("From", ""),
        "To": message.form["To"],
        "MessageSid": message.sid,
        "SmsSid": message.sid,
        "MessageStatus": status,
        "SmsStatus": status,
    }
    if status == "undelivered":
        form["ErrorCode"] = str(message.error_code or "")
    return form


def signature(address: str, form: Mapping[str, str], token: str) -> str:
    """Return X-Twilio-Signature: the address and all fields by name, HMAC-SHA1, base64."""
    signed = address + "".join(name + form[name] for name in sorted(form))
    mac = hmac.digest(token.encode(), signed.encode(), hashlib.sha1)
    return base64.b64encode(mac).decode()


def is_told(url: str, form: Mapping[str, str], token: str) -> bool:
    """Post one form; return whether it was answered, with anything but 5xx."""
    headers = {"X-Twilio-Signature": signature(url, form, token), "Content-Type": _FORM}
    content = urlencode(form).encode()
    try:
        with httpx2.Client(timeout=TIMEOUT_SECONDS, trust_env=False) as client:
            return client.post(url, content=content, headers=headers).status_code < 500
    except httpx2.TransportError:
        return False
