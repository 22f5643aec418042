"""What a template sees of an alert: plain values of bounded size."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from services.contracts.records import Alert
from services.lookout.templates.budget import NUMBER_LIMIT_BITS
from services.lookout.templates.rendering import cut

NODES_LIMIT: Final = 1000
"""Most values of one alert, those inside lists and objects too."""
CHARACTERS_LIMIT: Final = 32 * 1024
"""Most characters of all texts among the values."""
VALUE_LIMIT_CHARACTERS: Final = 1000
LIST_LIMIT: Final = 100
DEPTH_LIMIT: Final = 4


@dataclass(frozen=True, slots=True)
class AlertView:
    """An alert's fields; a label without a value is missing. Times have a zone (UTC)."""

    alert_id: str
    watch: str
    severity: str
    summary: str
    key: dict[str, str]
    labels: dict[str, str]
    values: dict[str, Any]
    event_ids: list[str]
    events: int
    auditor: str
    appended_at: datetime
    detected_at: datetime


def view(alert: Alert) -> AlertView:
    """Return what a template sees: long texts and lists are cut."""
    room = _Room()
    return AlertView(
        alert_id=alert.alert_id,
        watch=alert.watch,
        severity=alert.severity.value,
        summary=alert.summary,
        key=dict(alert.key),
        labels={name: value for name in alert.labels if (value := alert.label(name))},
        values={name: room.take(value) for name, value in alert.values.items()},
        event_ids=alert.event_ids[:LIST_LIMIT],
        events=len(alert.event_ids),
        auditor=alert.auditor,
        appended_at=datetime.fromtimestamp(alert.appended_at_ms / 1000, UTC),
        detected_at=datetime.fromtimestamp(alert.detected_at_ms / 1000, UTC),
    )


class _Room:
    """Cuts values until the room for them is used up; then texts are empty and lists end."""

    def __init__(self) -> None:
        self._nodes = NODES_LIMIT
        self._characters = CHARACTERS_LIMIT

    def take(self, value: Any, depth: int = 0) -> Any:
        self._nodes -= 1
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, int):
            return value if value.bit_length() <= NUMBER_LIMIT_BITS else float("inf")
        if isinstance(value, list | tuple):
            return [self.take(each, depth + 1) for each in value[:LIST_LIMIT] if self._open(depth)]
        if isinstance(value, dict):
            pairs = list(value.items())[:LIST_LIMIT]
            return {
                self._text(str(name)): self.take(each, depth + 1)
                for name, each in pairs
                if self._open(depth)
            }
        return value

    def _text(self, text: str) -> str:
        kept = cut(text, max(1, min(VALUE_LIMIT_CHARACTERS, self._characters)))
        self._characters -= len(kept)
        return kept

    def _open(self, depth: int) -> bool:
        return self._nodes > 0 and depth < DEPTH_LIMIT
