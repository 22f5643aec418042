"""Slack's Web API: chat.postMessage, and conversations.history by which a message is found."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

import orjson
from pydantic import Field

from services.simulator.inbox.faults import Faults
from services.simulator.inbox.provider import (
    KEPT_LIMIT,
    Desk,
    ProviderAnswer,
    ProviderRequest,
    Sending,
)

PREFIX: Final = "/slack"
TOKEN: Final = "xoxb-inbox-token"  # noqa: S105 - a made-up account's
PAGE_LIMIT: Final = 999
_TEXT_LIMIT: Final = 40_000


class SlackFaults(Faults):
    """Slack's dials."""

    refuse_error: str | None = None
    """Refusals answer 200 with this error, as Slack does, and not by the status."""
    archived: frozenset[str] = frozenset()
    """Conversations that are archived."""
    seconds_between: Annotated[float, Field(ge=0, le=3600)] = 0.0
    """A message to the same conversation sooner than that gets 429 with Retry-After."""
    history_error: str | None = None
    """The history cannot be read, with this error."""
    history_hides_seconds: Annotated[float, Field(ge=0, le=3600)] = 0.0
    """The history shows messages only when they are this old."""


DIALS: Final = SlackFaults()


@dataclass(frozen=True, slots=True)
class Posted:
    """One message of a conversation."""

    at_ms: int
    ts: str
    content: Mapping[str, Any]

    def shown(self) -> dict[str, Any]:
        """Return it as the history shows it."""
        parts = {key: self.content[key] for key in ("text", "metadata") if key in self.content}
        return {"type": "message", "ts": self.ts, "bot_id": "B0INBOX00"} | parts


class Slack:
    """Keeps conversations."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._lock = threading.Lock()
        self._posted: dict[str, list[Posted]] = {}
        self._numbers = 0

    def read(self, request: ProviderRequest) -> Sending | ProviderAnswer:
        """Return a message, a page of history, or Slack's error."""
        if request.headers.get("authorization") != f"Bearer {TOKEN}":
            return _said(ok=False, error="invalid_auth")
        if request.path == "/conversations.history":
            return self._history(request.query)
        if request.method != "POST" or request.path != "/chat.postMessage":
            return _said(ok=False, error="unknown_method")
        content = _parsed(request.body)
        return self._wrong(content) or Sending(_delivery_id(content), str(content["text"]))

    def take(self, request: ProviderRequest, _: Sending) -> ProviderAnswer:
        """Post the message."""
        content = _parsed(request.body)
        conversation = str(content["channel"])
        with self._lock:
            posted = self._post(conversation, content)
        return _said(ok=True, channel=conversation, ts=posted.ts, message=posted.shown())

    def refuse(self, status: int) -> ProviderAnswer:
        """Word a refusal."""
        error = self._dials().refuse_error
        if error is not None:
            return _said(ok=False, error=error)
        said = {"ok": False, "error": "ratelimited" if status == 429 else "refused"}
        return ProviderAnswer(status, orjson.dumps(said))

    def _wrong(self, content: Mapping[str, Any]) -> ProviderAnswer | None:
        conversation, dials = str(content.get("channel", "")), self._dials()
        if not conversation:
            return _said(ok=False, error="channel_not_found")
        if conversation in dials.archived:
            return _said(ok=False, error="is_archived")
        if not content.get("text"):
            return _said(ok=False, error="no_text")
        if len(str(content["text"])) > _TEXT_LIMIT:
            return _said(ok=False, error="msg_too_long")
        return self._too_soon(conversation, dials.seconds_between)

    def _too_soon(self, conversation: str, seconds: float) -> ProviderAnswer | None:
        with self._lock:
            before = self._posted.get(conversation, [])[-1:]
        early = [each for each in before if self._now() < each.at_ms + seconds * 1000]
        if not early:
            return None
        said = {"ok": False, "error": "ratelimited"}
        return ProviderAnswer(429, orjson.dumps(said), {"Retry-After": str(max(1, int(seconds)))})

    def _post(self, conversation: str, content: Mapping[str, Any]) -> Posted:
        self._numbers += 1
        at_ms = self._now()
        ts = f"{at_ms // 1000}.{at_ms % 1000:03d}{self._numbers % 1000:03d}"
        posted = Posted(at_ms, ts, content)
        kept = self._posted.setdefault(conversation, [])
        kept.append(posted)
        del kept[:-KEPT_LIMIT]
        return posted

    def _history(self, query: Mapping[str, str]) -> ProviderAnswer:
        dials = self._dials()
        if dials.history_error is not None:
            return _said(ok=False, error=dials.history_error)
        oldest = float(query.get("oldest", "0"))
        size = min(PAGE_LIMIT, max(1, int(query.get("limit", "100"))))
        begin = int(query.get("cursor") or "0")
        shown_until_ms = self._now() - dials.history_hides_seconds * 1000
        with self._lock:
            found = [
                each.shown()
                for each in reversed(self._posted.get(query.get("channel", ""), []))
                if float(each.ts) > oldest and each.at_ms <= shown_until_ms
            ]
        more = len(found) > begin + size
        cursor = {"next_cursor": str(begin + size) if more else ""}
        page = found[begin : begin + size]
        return _said(ok=True, messages=page, has_more=more, response_metadata=cursor)

    def _now(self) -> int:
        return self._desk.clock.now_ms()

    def _dials(self) -> SlackFaults:
        dials = self._desk.faults()
        return dials if isinstance(dials, SlackFaults) else DIALS


def _delivery_id(content: Mapping[str, Any]) -> str:
    metadata = content.get("metadata")
    payload = metadata.get("event_payload") if isinstance(metadata, Mapping) else None
    return str(payload.get("delivery_id", "")) if isinstance(payload, Mapping) else ""


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def _said(**what: object) -> ProviderAnswer:
    return ProviderAnswer(200, orjson.dumps(what))


def open_provider(desk: Desk) -> Slack:
    """Make the provider."""
    return Slack(desk)
