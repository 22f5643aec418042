"""The messages that were taken, as the provider shows them."""

import re
import threading
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any, Final
from urllib.parse import urlsplit

from services.backbone.clock import Clock

MESSAGES_LIMIT: Final = 100_000
"""Older ones are forgotten."""
_BODY_CODE: Final = re.compile(r"#([0-9a-f]{10})\s*$")


@dataclass
class TextMessage:
    """One message; `status` goes on while it is on its way."""

    sid: str
    account_sid: str
    form: Mapping[str, str]
    created_at_ms: int
    listed_at_ms: int
    status: str = "queued"
    error_code: int | None = None

    def go_on(self, status: str, error_code: int) -> None:
        """Set a status; none comes after the last one, whatever is told when."""
        if self.status not in ("delivered", "undelivered"):
            self.error_code = error_code if status == "undelivered" else None
            self.status = status

    def shown(self) -> dict[str, Any]:
        """Return the resource as JSON shows it."""
        moment = datetime.fromtimestamp(self.created_at_ms // 1000, UTC)
        created = format_datetime(moment)
        return {
            "sid": self.sid,
            "account_sid": self.account_sid,
            "api_version": "2010-04-01",
            "body": self.form.get("Body", ""),
            "date_created": created,
            "date_sent": None if self.status == "queued" else created,
            "date_updated": created,
            "direction": "outbound-api",
            "error_code": self.error_code,
            "error_message": None,
            "from": self.form.get("From"),
            "messaging_service_sid": self.form.get("MessagingServiceSid"),
            "num_media": "0",
            "num_segments": "1",
            "price": None,
            "price_unit": "USD",
            "status": self.status,
            "subresource_uris": {},
            "to": self.form["To"],
            "uri": f"/2010-04-01/Accounts/{self.account_sid}/Messages/{self.sid}.json",
        }


class Messages:
    """All messages of one account; safe from any thread."""

    def __init__(self, clock: Clock, account_sid: str) -> None:
        self._clock = clock
        self._account_sid = account_sid
        self._lock = threading.Lock()
        self._by_sid: dict[str, TextMessage] = {}

    def add(self, form: Mapping[str, str], hidden_seconds: float) -> TextMessage:
        """Keep a new message."""
        now_ms = self._clock.now_ms()
        sid = "SM" + uuid.uuid4().hex
        shown_at_ms = now_ms + int(hidden_seconds * 1000)
        message = TextMessage(sid, self._account_sid, form, now_ms, shown_at_ms)
        with self._lock:
            self._by_sid[sid] = message
            if len(self._by_sid) > MESSAGES_LIMIT:
                del self._by_sid[next(iter(self._by_sid))]
        return message

    def get(self, sid: str) -> TextMessage | None:
        """Return one message."""
        with self._lock:
            return self._by_sid.get(sid)

    def listed(self, recipient: str) -> list[dict[str, Any]]:
        """Return messages to a recipient, or all, newest first, as they are shown."""
        now_ms = self._clock.now_ms()
        with self._lock:
            return [
                each.shown()
                for each in reversed(self._by_sid.values())
                if recipient in ("", each.form["To"]) and each.listed_at_ms <= now_ms
            ]


def delivery_of(form: Mapping[str, str]) -> str:
    """Return the delivery id of the callback's address, else the code in the text, else ""."""
    told = urlsplit(form.get("StatusCallback", "")).path.rpartition("/")[2]
    if told:
        return told
    code = _BODY_CODE.search(form.get("Body", ""))
    return code[1] if code else ""
