"""What the text message provider answers: its problems, and its pages."""

import base64
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from services.simulator.inbox.provider import ProviderAnswer, ProviderRequest

PAGE_SIZE_LIMIT: Final = 1000
BODY_LIMIT_CHARACTERS: Final = 1600
_NUMBER: Final = re.compile(r"\+[1-9][0-9]{6,14}")


@dataclass(frozen=True, slots=True)
class Problem:
    """A status, the provider's own code, and a sentence."""

    status: int
    code: int
    message: str


_RECIPIENTS: Final[Mapping[str, Problem]] = {
    "+15005550001": Problem(400, 21211, "Invalid 'To' Phone Number"),
    "+15005550002": Problem(400, 21612, "The 'To' number is not currently reachable"),
    "+15005550003": Problem(403, 21408, "Permission to send to this region is not enabled"),
    "+15005550004": Problem(400, 21610, "Attempt to send to unsubscribed recipient"),
    "+15005550009": Problem(400, 21614, "'To' number is not a valid mobile number"),
}
_SENDERS: Final[Mapping[str, Problem]] = {
    "+15005550001": Problem(400, 21212, "Invalid 'From' Phone Number"),
    "+15005550007": Problem(400, 21606, "The 'From' number is not a valid, SMS-capable one"),
    "+15005550008": Problem(429, 21611, "This 'From' number has exceeded its queue"),
}
_REFUSALS: Final[Mapping[int, Problem]] = {
    401: Problem(401, 20003, "Authenticate"),
    403: Problem(403, 20003, "Permission Denied"),
    429: Problem(429, 20429, "Too Many Requests"),
    500: Problem(500, 20500, "Internal Server Error"),
    503: Problem(503, 20503, "Service unavailable"),
}


def is_authorized(header: str, account_sid: str, token: str) -> bool:
    """Tell whether a request carries the account's id and token."""
    login = base64.b64encode(f"{account_sid}:{token}".encode()).decode()
    return header == f"Basic {login}"


def wrong(form: Mapping[str, str]) -> Problem | None:
    """Say what is wrong with a message, as the provider would, or None."""
    recipient = form.get("To", "")
    if not recipient:
        return Problem(400, 21604, "A 'To' phone number is required.")
    if not _NUMBER.fullmatch(recipient):
        return Problem(400, 21211, f"The 'To' number {recipient} is not a valid phone number.")
    if not form.get("From") and not form.get("MessagingServiceSid"):
        return Problem(400, 21603, "A 'From' phone number is required.")
    if not form.get("Body"):
        return Problem(400, 21602, "Message body is required.")
    if len(form["Body"]) > BODY_LIMIT_CHARACTERS:
        return Problem(400, 21617, "The concatenated message body exceeds the 1600 limit.")
    return _RECIPIENTS.get(recipient) or _SENDERS.get(form.get("From", ""))


def refusal(status: int) -> Problem:
    """Return the problem that goes with a status which a dial asks for."""
    return _REFUSALS.get(status) or Problem(status, 20000 + status, "Because a dial says so")


def problem(of: Problem) -> ProviderAnswer:
    """Return the answer for a problem."""
    content = {
        "code": of.code,
        "message": of.message,
        "more_info": f"https://www.twilio.com/docs/errors/{of.code}",
        "status": of.status,
    }
    return ProviderAnswer(of.status, json.dumps(content).encode())


def page(found: Sequence[dict[str, Any]], request: ProviderRequest) -> ProviderAnswer:
    """Return the page of a list that was asked for, with the address of the next."""
    size = max(1, min(_number(request.query.get("PageSize"), 50), PAGE_SIZE_LIMIT))
    number = _number(request.query.get("Page"), 0)
    begin = number * size
    rows = found[begin : begin + size]
    more = len(found) > begin + size
    uri = f"/2010-04-01{request.path}"
    following = {**request.query, "PageSize": str(size), "Page": str(number + 1)}
    content = {
        "messages": rows,
        "page": number,
        "page_size": size,
        "start": begin,
        "end": begin + max(len(rows) - 1, 0),
        "uri": uri,
        "first_page_uri": f"{uri}?Page=0&PageSize={size}",
        "next_page_uri": f"{uri}?{urlencode(following)}" if more else None,
        "previous_page_uri": None,
    }
    return ProviderAnswer(200, json.dumps(content).encode())


def _number(said: str | None, otherwise: int) -> int:
    return int(said) if said and said.isdecimal() else otherwise
