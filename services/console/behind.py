"""What is behind an alert on the topics, while they keep it: each auditor's own finding, and the
events. Nothing of it is in the ledger, so it is looked up when somebody asks.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import orjson

from services.backbone.clock import Clock
from services.backbone.kafka.consumer import Incoming
from services.backbone.kafka.window import Bounds, Span, Window
from services.backbone.settings import KafkaSettings
from services.console.spelling import may_have
from services.contracts.records import SHORT_LIMIT_CHARACTERS, Alert, Malformed
from services.contracts.streams import SHIPPED_STREAMS
from services.contracts.topics import ALERTS

BEFORE_MS: Final = (5000, 60_000, 600_000)
"""Events are looked for so long before the newest one, longer only where some are missing."""
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


Unread = Literal["", "no_ids", "no_watch"]
"""Why no stream was read: the alert names no events, or its watch is not declared here."""


@dataclass(frozen=True, slots=True)
class Looked:
    """How many records were looked through, and whether nothing more could be found."""

    records: int
    whole: bool


NOT_READ: Final[tuple[tuple[Event, ...], Looked]] = ((), Looked(0, whole=False))
"""What is told of events where no stream was read."""


@dataclass(frozen=True, slots=True)
class Behind:
    """What the topics still have of an alert.

    `still_open`: the time in which another auditor's finding would be seen is not over yet.
    `events_unread` is empty where the streams were read.
    """

    findings: tuple[Finding, ...]
    events: tuple[Event, ...]
    findings_looked: Looked
    events_looked: Looked
    still_open: bool
    events_unread: Unread = ""


@dataclass(frozen=True)
class Topics:
    """Looks things up on the topics; raises Transient while the brokers do not answer."""

    settings: KafkaSettings
    clock: Clock
    bounds: Bounds = field(default_factory=Bounds)
    streams_dir: Path = SHIPPED_STREAMS
    """Where the streams are declared whose topics may be read."""

    def behind(self, record: dict[str, Any], streams: Sequence[str]) -> Behind:
        """Return what is behind an alert, by its record; no streams: its watch is not declared."""
        detected, appended = int(record["detected_at_ms"]), int(record["appended_at_ms"])
        ids = [str(each) for each in record.get("event_ids", ())]
        still_open = self.clock.now_ms() < detected + AFTER_MS
        with self._window([ALERTS]) as window:
            span = Span(detected - SLACK_MS, detected + AFTER_MS)
            found = findings(window.records(span), record["alert_id"])
            of_findings = Looked(window.looked_through, window.is_whole)
        why = unread(ids, streams)
        told, of_events = NOT_READ if why else self._events(streams, appended, ids)
        return Behind(found, told, of_findings, of_events, still_open, why)

    def _events(
        self, streams: Sequence[str], appended_ms: int, ids: Sequence[str]
    ) -> tuple[tuple[Event, ...], Looked]:
        with self._window(streams) as window:
            told = backwards(window, appended_ms, ids)
            return told, Looked(window.looked_through, window.is_whole or has_all(told, ids))

    def _window(self, topics: Sequence[str]) -> Window:
        return Window(self.settings, self.clock, topics, self.bounds)


def unread(ids: Sequence[str], streams: Sequence[str]) -> Unread:
    """Tell why no stream can be read for events with these ids; empty where one can."""
    if not ids:
        return "no_ids"
    return "" if streams else "no_watch"


def backwards(window: Window, appended_ms: int, ids: Sequence[str]) -> tuple[Event, ...]:
    """Return the events that have one of these ids, looked for until each was seen."""
    told: tuple[Event, ...] = ()
    until_ms = appended_ms
    for before_ms in BEFORE_MS:
        span = Span(appended_ms - before_ms, until_ms)
        told = (events(window.records(span), ids) + told)[-EVENTS_SHOWN:]
        until_ms = span.since_ms - 1
        if len(told) == EVENTS_SHOWN or has_all(told, ids):
            break
    return told


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
    wanted, written = set(ids), [each.encode() for each in ids]
    made = [
        Event(each.topic, each.timestamp_ms, each.value.decode(errors="replace"))
        for each in found
        if may_have(each.value, written) and wanted & _values(each.value)
    ]
    return tuple(sorted(made, key=lambda each: each.appended_at_ms)[-EVENTS_SHOWN:])


def has_all(told: Sequence[Event], ids: Sequence[str]) -> bool:
    """Tell whether each id has an event; one may name another's beside its own, or come twice."""
    wanted = set(ids)
    return len({each.text for each in told}) >= len(wanted) and not wanted.difference(
        *(_values(each.text) for each in told)
    )


def _values(value: bytes | str) -> set[str]:
    """Return an event's texts and whole numbers, as an alert's record would hold them as ids."""
    try:
        told = orjson.loads(value)
    except orjson.JSONDecodeError:
        return set()
    if not isinstance(told, dict):
        return set()
    # True is an int, too.
    named = (each for each in told.values() if isinstance(each, str) or type(each) is int)
    return {str(each)[:SHORT_LIMIT_CHARACTERS] for each in named}
