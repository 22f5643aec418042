"""PagerDuty's Events API v2: open and resolved incidents by integration and dedup_key.

`GET /pagerduty/incidents` shows the newest incidents, with the triggers that joined each.
"""

import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

import orjson

from services.simulator.inbox.provider import (
    KEPT_LIMIT,
    Desk,
    ProviderAnswer,
    ProviderRequest,
    Sending,
)

PREFIX: Final = "/pagerduty"
_ACTIONS: Final = ("trigger", "acknowledge", "resolve")
_SEVERITIES: Final = ("critical", "error", "warning", "info")
_KEY_LENGTH: Final = 32


@dataclass
class Incident:
    """One incident; `triggers` counts the events that opened and joined it."""

    routing_key: str
    dedup_key: str
    summary: str
    status: str = "triggered"
    triggers: int = 1

    @property
    def key(self) -> tuple[str, str]:
        """By what an event is known to belong to it."""
        return self.routing_key, self.dedup_key


class PagerDuty:
    """Opens, joins, acknowledges and resolves incidents."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._incidents: deque[Incident] = deque()
        self._unresolved: dict[tuple[str, str], Incident] = {}

    def read(self, request: ProviderRequest) -> Sending | ProviderAnswer:
        """Return a valid event, what is wrong with it, or the list of incidents."""
        if request.method == "GET" and request.path == "/incidents":
            return self._shown()
        if request.method != "POST" or request.path != "/v2/enqueue":
            return ProviderAnswer(404, b"{}")
        found = _parsed(request.body)
        if errors := wrong(found):
            said = {
                "status": "invalid event",
                "message": "Event object is invalid",
                "errors": errors,
            }
            return ProviderAnswer(400, orjson.dumps(said))
        key, action = str(found.get("dedup_key", "")), found["event_action"]
        return Sending(key, f"{action} {key}: {found.get('payload', {}).get('summary', '')}")

    def take(self, request: ProviderRequest, sending: Sending) -> ProviderAnswer:
        """Let the event work on the incidents."""
        event = _parsed(request.body)
        with self._lock:
            self._apply(event, sending.delivery_id)
        said = {
            "status": "success",
            "message": "Event processed",
            "dedup_key": sending.delivery_id,
        }
        return ProviderAnswer(202, orjson.dumps(said))

    def refuse(self, status: int) -> ProviderAnswer:
        """Word a refusal."""
        said = {"status": "refused", "message": "a dial says so", "errors": ["by a dial"]}
        return ProviderAnswer(status, orjson.dumps(said))

    def _apply(self, event: Mapping[str, Any], dedup_key: str) -> None:
        routing_key, action = event["routing_key"], event["event_action"]
        joined = self._unresolved.get((routing_key, dedup_key))
        if action != "trigger":
            if joined is not None:
                joined.status = {"acknowledge": "acknowledged", "resolve": "resolved"}[action]
            if action == "resolve":
                self._unresolved.pop((routing_key, dedup_key), None)
        elif joined is not None:
            joined.triggers += 1
        else:
            self._begin(Incident(routing_key, dedup_key, event["payload"]["summary"]))

    def _begin(self, incident: Incident) -> None:
        self._incidents.append(incident)
        self._unresolved[incident.key] = incident
        if len(self._incidents) > KEPT_LIMIT:
            forgotten = self._incidents.popleft()
            if self._unresolved.get(forgotten.key) is forgotten:
                del self._unresolved[forgotten.key]

    def _shown(self) -> ProviderAnswer:
        with self._lock:
            return ProviderAnswer(200, orjson.dumps([asdict(each) for each in self._incidents]))


def wrong(event: Mapping[str, Any]) -> list[str]:
    """Say what PagerDuty would find wrong with an event."""
    found = []
    if len(str(event.get("routing_key", ""))) != _KEY_LENGTH:
        found.append("Length of 'routing_key' is incorrect (should be 32 characters)")
    action = event.get("event_action")
    if action not in _ACTIONS:
        found.append("'event_action' is missing or invalid")
    payload = event.get("payload", {})
    if action != "trigger":
        return found if event.get("dedup_key") else [*found, "'dedup_key' is missing or blank"]
    if not isinstance(payload, Mapping):
        return [*found, "'payload' is invalid"]
    missing = [name for name in ("summary", "source") if not payload.get(name)]
    found += [f"'payload.{name}' is missing or blank" for name in missing]
    if payload.get("severity") not in _SEVERITIES:
        found.append("'payload.severity' is invalid (must be one of: " + ", ".join(_SEVERITIES))
    return found


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def open_provider(_: Desk) -> PagerDuty:
    """Make the provider."""
    return PagerDuty()
