"""What Twilio's answer to a new message means, as a pure function of status, code and headers.

Only what is documented as not processed is sent again. Where a setting of ours is at fault, the
message waits: once it is put right, what has waited goes out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from services.contracts.twilio import Fate, fate, told
from services.deliverer.outcomes import Accepted, Outcome, Permanent, Refused, Unknown
from services.deliverer.posting import object_in, retry_after_seconds

_REASON_LIMIT: Final = 300
_TOO_MANY: Final = frozenset({429, 20429})
_PAUSE_SECONDS: Final = 1.0
"""After "too many requests", for all: Twilio does not always say how long."""
_FULL: Final = frozenset({21611, 30001})
_MAYBE_PROCESSED: Final = frozenset({408, 409})

_OURS: Final[Mapping[int, str]] = {
    20003: "the credentials are refused: check sms_account_sid and sms_auth_token (or the API key)",
    20005: "the account is not active: see Twilio's console",
    20006: "the login may not do this: check what the API key is allowed to",
    20403: "the account may not use the API, as when it is suspended: see Twilio's console",
    20404: "there is no such account here: check sms_account_sid and sms_api_url",
    20008: "test credentials are used: set the live ones",
    21212: "sms_sender is no valid sender",
    21601: "sms_sender cannot send text messages",
    21603: "there is no sender: check sms_sender and sms_messaging_service",
    21606: "sms_sender is not a number of this account that sends text messages",
    21609: "Twilio refuses the callback's address: check callbacks_public_url",
    21626: "Twilio refuses the callback's address: check callbacks_public_url",
    21659: "sms_sender is not of this account",
    21660: "sms_sender is not of this account",
    21701: "there is no such messaging service: check sms_messaging_service",
    21703: "the messaging service has no sender",
    21704: "the messaging service has no sender",
    21705: "the messaging service's id is not valid: check sms_messaging_service",
    70051: "the account or API key is suspended, or may not do this: see Twilio's console",
}
"""Refusals that say nothing about the message: every other one would fare the same."""
_OURS_BY_STATUS: Final[Mapping[int, int]] = {401: 20003, 403: 20003, 404: 20404}


@dataclass(frozen=True, slots=True)
class Answer:
    """One whole HTTP answer; header names are in small letters."""

    status: int
    headers: Mapping[str, str]
    text: str


def answered(answer: Answer, now_ms: int) -> Outcome:
    """Sort the answer to the creation of a message."""
    body = object_in(answer.text)
    if 200 <= answer.status < 300:
        return _created(answer.status, body)
    code = _number(body.get("code"))
    reason = _reason(answer.status, code, body)
    if answer.status in _MAYBE_PROCESSED or not 400 <= answer.status < 500:
        return Unknown(reason)
    if {answer.status, code} & _TOO_MANY:
        asked = retry_after_seconds(answer.headers.get("retry-after"), now_ms)
        return Refused(reason, max(asked or 0.0, _PAUSE_SECONDS))
    if code in _FULL:
        return Refused(reason, destination_down=True)
    ours = _ours(answer.status, code)
    if ours is not None:
        return Refused(f"{ours} ({reason})"[:_REASON_LIMIT], destination_down=True)
    return Permanent(reason)


def _ours(status: int, code: int | None) -> str | None:
    """Return what is to be put right here; a 401 is about our login whatever its code says."""
    told = _OURS.get(code or 0)
    if told is None and (not code or status == HTTPStatus.UNAUTHORIZED):
        return _OURS.get(_OURS_BY_STATUS.get(status, 0))
    return told


def _created(http_status: int, body: Mapping[str, Any]) -> Outcome:
    sid = str(body.get("sid") or "")[:64]
    if not sid:
        return Unknown(f"answered HTTP {http_status} without a message SID: is it Twilio?")
    status = str(body.get("status") or "")
    if fate(status) is Fate.LOST:
        return Permanent(told(status, str(body.get("error_code") or "")))
    return Accepted(sid)


def _number(code: object) -> int | None:
    return code if isinstance(code, int) else None


def _reason(status: int, code: int | None, body: Mapping[str, Any]) -> str:
    said = str(body.get("message") or body.get("title") or "")
    return f"Twilio answered {status}, code {code or 'none'}: {said}"[:_REASON_LIMIT]
