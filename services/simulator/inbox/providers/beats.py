"""A dead man's switch: `POST /beats/<name>` is a beat, `GET /beats` tells how old each is."""

import threading
from dataclasses import dataclass
from typing import Final

import orjson
from prometheus_client import Gauge

from services.simulator.inbox.provider import Desk, ProviderAnswer, ProviderRequest, Sending

PREFIX: Final = "/beats"
NAMES_LIMIT: Final = 100
LAST_BEAT: Final = Gauge(
    "aldebaran_inbox_beat_at_seconds", "When a program last beat, in seconds since 1970.", ["name"]
)


@dataclass(frozen=True, slots=True)
class Beats:
    """The beats of one program."""

    count: int
    last_at_ms: int


class DeadMansSwitch:
    """Counts beats by name; whoever watches it alarms when one grows old."""

    def __init__(self, desk: Desk) -> None:
        self._clock = desk.clock
        self._lock = threading.Lock()
        self._beats: dict[str, Beats] = {}

    def read(self, request: ProviderRequest) -> Sending | ProviderAnswer:
        """Count a beat, or show all; nothing here is a message."""
        name = request.path.removeprefix("/")
        if request.method == "POST" and name:
            return ProviderAnswer(204 if self._beat(name) else 429)
        if request.method == "GET" and not name:
            return ProviderAnswer(200, orjson.dumps(self._shown()))
        return ProviderAnswer(404, b"post to /beats/<name>\n", media_type="text/plain")

    def take(self, _: ProviderRequest, __: Sending) -> ProviderAnswer:
        """Say that nothing is taken this way."""
        return ProviderAnswer(404)

    def refuse(self, status: int) -> ProviderAnswer:
        """Say the status."""
        return ProviderAnswer(status)

    def _beat(self, name: str) -> bool:
        now_ms = self._clock.now_ms()
        with self._lock:
            before = self._beats.get(name)
            if before is None and len(self._beats) >= NAMES_LIMIT:
                return False
            self._beats[name] = Beats(before.count + 1 if before else 1, now_ms)
        LAST_BEAT.labels(name).set(now_ms / 1000)
        return True

    def _shown(self) -> dict[str, dict[str, float]]:
        now_ms = self._clock.now_ms()
        with self._lock:
            return {
                name: {"count": each.count, "seconds_ago": (now_ms - each.last_at_ms) / 1000}
                for name, each in self._beats.items()
            }


def open_provider(desk: Desk) -> DeadMansSwitch:
    """Make the switch."""
    return DeadMansSwitch(desk)
