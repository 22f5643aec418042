"""Apple's rules for one request: what is valid, and the reason if it is not."""

import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import jwt
import orjson

from services.simulator.inbox.apns.account import Account

PAYLOAD_LIMIT_BYTES: Final = 4096
COLLAPSE_LIMIT_BYTES: Final = 64
CREDENTIAL_LIMIT_SECONDS: Final = 3600
_DEVICE: Final = re.compile(r"/3/device/[0-9a-fA-F]{64,200}")
REASONS: Final[Mapping[int, str]] = {
    400: "BadDeviceToken",
    403: "InvalidProviderToken",
    404: "BadPath",
    405: "MethodNotAllowed",
    410: "Unregistered",
    413: "PayloadTooLarge",
    429: "TooManyRequests",
    500: "InternalServerError",
    503: "ServiceUnavailable",
}


@dataclass(frozen=True, slots=True)
class Push:
    """One valid notification."""

    token: str
    topic: str
    apns_id: str
    collapse_id: str
    expires_at_seconds: int
    payload: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Wrong:
    """Why Apple refuses a request."""

    status: int
    reason: str


def judge(headers: Mapping[str, str], body: bytes, account: Account, now_ms: int) -> Push | Wrong:
    """Return the notification that a request asks for, or what is wrong with it."""
    wrong = _wrong(headers, body, account, now_ms)
    if wrong is not None:
        return wrong
    return Push(
        token=headers[":path"].rpartition("/")[2],
        topic=headers["apns-topic"],
        apns_id=headers["apns-id"],
        collapse_id=headers.get("apns-collapse-id", ""),
        expires_at_seconds=int(headers.get("apns-expiration", "0")),
        payload=_payload(body) or {},
    )


def _wrong(headers: Mapping[str, str], body: bytes, account: Account, now_ms: int) -> Wrong | None:
    if headers.get(":method") != "POST":
        return Wrong(405, "MethodNotAllowed")
    if not _DEVICE.fullmatch(headers.get(":path", "")):
        return Wrong(404, "BadPath")
    if reason := _credential(headers.get("authorization", ""), account, now_ms):
        return Wrong(403, reason)
    if reason := _headers(headers, account):
        return Wrong(400, reason)
    if len(body) > PAYLOAD_LIMIT_BYTES:
        return Wrong(413, "PayloadTooLarge")
    return None if _payload(body) is not None else Wrong(400, "PayloadEmpty")


def _credential(authorization: str, account: Account, now_ms: int) -> str | None:
    scheme, _, token = authorization.partition(" ")
    if scheme != "bearer":
        return "MissingProviderToken"
    try:
        key_id = jwt.get_unverified_header(token).get("kid")
        claims = jwt.decode(
            token, account.verifying_key, algorithms=["ES256"], options={"verify_iat": False}
        )
    except jwt.InvalidTokenError:
        return "InvalidProviderToken"
    if (key_id, claims.get("iss")) != (account.key_id, account.team_id):
        return "InvalidProviderToken"
    age = now_ms / 1000 - int(claims.get("iat", 0))
    return "ExpiredProviderToken" if abs(age) > CREDENTIAL_LIMIT_SECONDS else None


def _headers(headers: Mapping[str, str], account: Account) -> str | None:
    if not headers.get("apns-topic"):
        return "MissingTopic"
    if headers["apns-topic"] != account.topic:
        return "DeviceTokenNotForTopic"
    if not _is_uuid(headers.get("apns-id", "")):
        return "BadMessageId"
    if len(headers.get("apns-collapse-id", "").encode()) > COLLAPSE_LIMIT_BYTES:
        return "BadCollapseId"
    if headers.get("apns-priority", "10") not in ("1", "5", "10"):
        return "BadPriority"
    return None if headers.get("apns-expiration", "0").isdecimal() else "BadExpirationDate"


def _is_uuid(text: str) -> bool:
    try:
        return str(uuid.UUID(text)) == text.lower()
    except ValueError:
        return False


def _payload(body: bytes) -> dict[str, Any] | None:
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    valid = isinstance(found, dict) and isinstance(found.get("aps"), dict)
    return found if valid else None
