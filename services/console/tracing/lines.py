"""What a trace shows: from records and moments to lines; plain functions of values."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from services.backbone.kafka.consumer import Incoming
from services.backbone.ledger.rows import AlertDetail
from services.backbone.writing import json_text
from services.console.timeline import timeline
from services.console.tracing.mentions import mentions
from services.contracts.ids import digest
from services.contracts.records import Accounted, Alert, Rejected
from services.contracts.topics import ACCOUNTS, ALERTS, REJECTED_SUFFIX

DETAIL_LIMIT_CHARACTERS: Final = 8000
ON_TOPICS: Final = frozenset({"appended", "detected"})
"""Moments of an alert's life that its records on the topics tell better."""


@dataclass(frozen=True, slots=True)
class Line:
    """One step of one record; `line_id` is where it stands, so that it is written once."""

    line_id: str
    at_ms: int
    step: str
    detail: str
    alert_id: str | None = None


def lines_of(found: Iterable[Incoming], key: str, streams: Sequence[str]) -> list[Line]:
    """Return the lines of what was read from topics; what is not the key's gives none."""
    made = (_line(each, key, streams) for each in found)
    return [each for each in made if each is not None]


def lines_in(detail: AlertDetail, since_ms: int, until_ms: int) -> list[Line]:
    """Return the steps of an alert's life in a span: taken in, decided, claimed, answered."""
    alert_id = detail.alert.alert_id
    return [
        Line(
            line_id=digest("moment", alert_id, str(each.at_ms), each.what, each.detail),
            at_ms=each.at_ms,
            step="taken in" if each.what == "accepted" else each.what,
            detail=each.detail[:DETAIL_LIMIT_CHARACTERS],
            alert_id=alert_id,
        )
        for each in timeline(detail)
        if each.what not in ON_TOPICS and since_ms <= each.at_ms < until_ms
    ]


def is_about(record: object, key: str) -> bool:
    """Tell whether a finding's record has the key among its own."""
    own = record.get("key") if isinstance(record, dict) else None
    return isinstance(own, dict) and key in own.values()


def _line(each: Incoming, key: str, streams: Sequence[str]) -> Line | None:
    place = f"{each.topic}/{each.partition}/{each.offset}"
    if each.topic in streams:
        text = each.value.decode(errors="replace")
        return _made(each, place, "accepted", f"{place}: {text}")
    try:
        if each.topic.endswith(REJECTED_SUFFIX):
            return _refused(each, place, key)
        if each.topic == ALERTS:
            return _found(each, place, key)
        return _unjudged(each, place, key) if each.topic == ACCOUNTS else None
    except ValueError:  # No record of ours: whoever reads the topic for its work tells of it.
        return None


def _refused(each: Incoming, place: str, key: str) -> Line | None:
    told = Rejected.decode(each.value)
    original = told.original
    if not mentions(original, key):
        return None
    said = f"{place}: from {told.source}: {told.reason}: {told.detail}: "
    return _made(each, place, "refused", said + original.decode(errors="replace"))


def _found(each: Incoming, place: str, key: str) -> Line | None:
    alert = Alert.decode(each.value)
    if key not in alert.key.values():
        return None
    late = alert.detected_at_ms - alert.appended_at_ms
    values = json_text(alert.values)
    said = (
        f"{place}: by auditor {alert.auditor}, {late} ms after the newest event: "
        f"{alert.watch}: {alert.summary} {values}"
    )
    made = _made(each, place, "found", said)
    return Line(made.line_id, alert.detected_at_ms, made.step, made.detail, alert.alert_id)


def _unjudged(each: Incoming, place: str, key: str) -> Line | None:
    row = Accounted.decode(each.value)
    if key not in row.key.values():
        return None
    return _made(each, place, "unjudged", f"{place}: {row.account}: {row.reason}")


def _made(each: Incoming, place: str, step: str, detail: str) -> Line:
    plain = detail.replace("\0", "")[:DETAIL_LIMIT_CHARACTERS]
    return Line(place, each.timestamp_ms, step, plain)
