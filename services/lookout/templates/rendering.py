"""What a person reads: an alert as a subject and a text, always the same for the same alert."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from services.contracts.records import Alert

SUBJECT_LIMIT_CHARACTERS: Final = 160
SUMMARY_LIMIT_CHARACTERS: Final = 800
VALUE_LIMIT_CHARACTERS: Final = 200
SECTION_LIMIT_CHARACTERS: Final = 600
EVENT_IDS_LIMIT: Final = 20


@dataclass(frozen=True, slots=True)
class Message:
    """A subject of one line, and a text of several."""

    subject: str
    text: str


@dataclass(frozen=True, slots=True)
class Links:
    """Addresses for the reader of a message; empty where there are none."""

    acknowledge: str = ""
    alert: str = ""


NO_LINKS: Final = Links()


def subject(alert: Alert) -> str:
    """Return the subject of a message that has no words of its own."""
    said = f"[{alert.severity.upper()}] {alert.watch}: {alert.summary}"
    return cut(one_line(said), SUBJECT_LIMIT_CHARACTERS)


def render(alert: Alert, links: Links = NO_LINKS) -> Message:
    """Return what is told about this alert; both parts fit a Delivery whatever the alert has."""
    sections = [
        cut(one_line(alert.summary), SUMMARY_LIMIT_CHARACTERS),
        "",
        f"watch: {alert.watch}",
        f"severity: {alert.severity}",
        *_section("key", _pairs(alert.key)),
        *_section("labels", _pairs(alert.labels)),
        *_section("values", _pairs(alert.values)),
        *_section(f"events ({len(alert.event_ids)})", _events(alert.event_ids)),
        *([f"acknowledge: {links.acknowledge}"] if links.acknowledge else []),
        *([f"more: {links.alert}"] if links.alert else []),
        f"alert: {alert.alert_id}",
        f"newest event: {iso(alert.appended_at_ms)}",
        f"detected: {iso(alert.detected_at_ms)} by auditor {alert.auditor}",
    ]
    return Message(subject(alert), "\n".join(sections))


def cut(text: str, limit_characters: int) -> str:
    """Return at most this many characters; an ellipsis shows that something is left out."""
    return text if len(text) <= limit_characters else text[: limit_characters - 1] + "…"


def one_line(text: str) -> str:
    """Return the text without line breaks and control characters, so that it fits a header."""
    return " ".join(_printable(text).split())


def several_lines(text: str) -> str:
    """Return the text without control characters but line ends, and without empty ends."""
    return "\n".join(_printable(line).rstrip() for line in text.split("\n")).strip("\n")


def _printable(line: str) -> str:
    if line.isprintable():
        return line
    return "".join(each if each.isprintable() else " " for each in line)


def iso(milliseconds: int) -> str:
    """Return a time as people and programs read it, in UTC."""
    moment = datetime.fromtimestamp(milliseconds // 1000, UTC)
    return f"{moment.isoformat()[:19]}.{milliseconds % 1000:03d}Z"


def _section(title: str, lines: Iterable[str]) -> list[str]:
    """A section that is too long loses its last lines and says so."""
    kept: list[str] = []
    room = SECTION_LIMIT_CHARACTERS
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            kept.append("  …")
            break
        kept.append(line)
    return [f"{title}:", *kept] if kept else []


def _pairs(pairs: Mapping[str, Any]) -> Iterable[str]:
    return (f"  {_short(name)}: {_short(value)}" for name, value in pairs.items())


def _events(ids: list[str]) -> list[str]:
    shown = [f"  {_short(each)}" for each in ids[:EVENT_IDS_LIMIT]]
    left_out = len(ids) - len(shown)
    return [*shown, f"  and {left_out} more"] if left_out else shown


def _short(value: Any) -> str:
    return cut(one_line(str(value)), VALUE_LIMIT_CHARACTERS)
