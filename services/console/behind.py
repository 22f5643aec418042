"""What is behind an alert on the topics, while they keep it: each auditor's own finding, and the
events. Nothing of it is in the ledger, so it is looked up when somebody asks.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from services.backbone.clock import Clock
from services.backbone.kafka.consumer import Incoming
from services.backbone.kafka.window import Bounds, Span, window
from services.backbone.settings import KafkaSettings
from services.contracts.records import Alert, Malformed
from services.contracts.topics import ALERTS

BEFORE_MS: Final = 600_000
"""Events are looked for so long before the newest one."""
AFTER_MS: Final = 60_000
"""The other auditor's finding is looked for so long after the first one."""
SLACK_MS: Final = 5000
"""Clocks may differ by so much."""
EVENTS_SHOWN: Final = 50


@dataclass(frozen=True, slots=True)
class Finding:
    """One auditor's own finding, and how much later than the first it came."""

    auditor: str
    detected_at_ms: int
    later_ms: int


@dataclass(frozen=True, slots=True)
class Event:
    """One event as it stands on its stream."""

    stream: str
    appended_at_ms: int
    text: str


@dataclass(frozen=True, slots=True)
class Behind:
    """What the topics still have of an alert."""

    findings: tuple[Finding, ...]
    events: tuple[Event, ...]


@dataclass(frozen=True)
class Topics:
    """Looks things up on the topics; raises Transient while the brokers do not answer."""

    settings: KafkaSettings
    clock: Clock
    bounds: Bounds = field(default_factory=Bounds)

    def behind(self, record: dict[str, Any], streams: Sequence[str]) -> Behind:
        """Return what is behind an alert, by its record."""
        detected, appended = int(record["detected_at_ms"]), int(record["appended_at_ms"])
        found = self._read([ALERTS], Span(detected - SLACK_MS, detected + AFTER_MS))
        ids = [str(each) for each in record.get("event_ids", ())]
        span = Span(appended - BEFORE_MS, appended)
        told = self._read(streams, span) if ids and streams else ()
        return Behind(findings(found, record["alert_id"]), events(told, ids))

    def _read(self, topics: Sequence[str], span: Span) -> Iterable[Incoming]:
        return window(self.settings, self.clock, topics, span, self.bounds)


def findings(found: Iterable[Incoming], alert_id: str) -> tuple[Finding, ...]:
    """Return each auditor's first finding of an alert, the earliest first."""
    first: dict[str, int] = {}
    for each in found:
        if each.key != alert_id.encode():
            continue
        try:
            alert = Alert.decode(each.value)
        except Malformed:
            continue
        at_ms = first.get(alert.auditor, alert.detected_at_ms)
        first[alert.auditor] = min(at_ms, alert.detected_at_ms)
    earliest = min(first.values(), default=0)
    made = [Finding(auditor, at_ms, at_ms - earliest) for auditor, at_ms in first.items()]
    return tuple(sorted(made, key=lambda each: (each.detected_at_ms, each.auditor)))


def events(found: Iterable[Incoming], ids: Sequence[str]) -> tuple[Event, ...]:
    """Return the events that have one of these ids as a field's value, the oldest first."""
    wanted = set(ids)
    quoted = [orjson.dumps(each) for each in ids]
    made = [
        Event(each.topic, each.timestamp_ms, each.value.decode(errors="replace"))
        for each in found
        if any(text in each.value for text in quoted) and _has(each.value, wanted)
    ]
    return tuple(sorted(made, key=lambda each: each.appended_at_ms)[:EVENTS_SHOWN])


def _has(value: bytes, wanted: set[str]) -> bool:
    try:
        told = orjson.loads(value)
    except orjson.JSONDecodeError:
        return False
    if not isinstance(told, dict):
        return False
    return any(isinstance(each, str) and each in wanted for each in told.values())
