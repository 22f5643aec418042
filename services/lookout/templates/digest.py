"""One message for several alerts."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from services.contracts.records import TEXT_LIMIT_CHARACTERS, Alert, Severity
from services.lookout.templates.gsm import fitted
from services.lookout.templates.messages import SHORT_CHANNELS
from services.lookout.templates.rendering import (
    SUBJECT_LIMIT_CHARACTERS,
    Message,
    cut,
    iso,
    one_line,
)

LINE_LIMIT_CHARACTERS: Final = 200
_SEVERITIES: Final = tuple(Severity)


@dataclass(frozen=True, slots=True)
class Digest:
    """A message that was made for several alerts, and which they are."""

    message: Message
    alerts: tuple[Alert, ...]


def weight(alert: Alert) -> int:
    """Return how much an alert matters by its severity; the worst most."""
    return _SEVERITIES.index(alert.severity)


def digest_message(told: Sequence[tuple[str, Alert]], channel: str) -> tuple[str, str]:
    """Return subject and text for alerts, each with the subject that it would have had alone.

    The subject has the worst severity and the number of alerts; the text has a line per alert, the
    worst first, as many as fit, and says how many are left out. A short channel gets the subject as
    its text.
    """
    told = sorted(told, key=lambda each: weight(each[1]), reverse=True)
    alerts = [alert for _, alert in told]
    worst = alerts[0].severity
    watches = Counter(alert.watch for alert in alerts).most_common()
    named = ", ".join(f"{count} of {watch}" for watch, count in watches)
    subject = f"[{worst.upper()}] {len(alerts)} alerts: {named}"
    if channel in SHORT_CHANNELS:
        return cut(subject, SUBJECT_LIMIT_CHARACTERS), fitted(subject)
    first = min(alert.detected_at_ms for alert in alerts)
    last = max(alert.detected_at_ms for alert in alerts)
    head = f"{len(alerts)} alerts, detected {iso(first)} to {iso(last)}"
    return cut(subject, SUBJECT_LIMIT_CHARACTERS), "\n".join([head, "", *_lines(told, len(head))])


def _lines(told: Sequence[tuple[str, Alert]], used_characters: int) -> list[str]:
    lines: list[str] = []
    room = TEXT_LIMIT_CHARACTERS - used_characters - 40
    for subject, alert in told:
        line = f"{cut(one_line(subject), LINE_LIMIT_CHARACTERS)} ({alert.alert_id})"
        room -= len(line) + 1
        if room < 0:
            lines.append(f"and {len(told) - len(lines)} more")
            break
        lines.append(line)
    return lines
