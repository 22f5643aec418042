"""Trials: an alert that somebody sends to see whether a way to a person works.

It takes the whole path, as an alert of the reserved watch, to the named recipients only.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import BaseModel, Field, ValidationError

from services.contracts import ids
from services.contracts.recipients import complaint
from services.contracts.records import (
    SHORT_LIMIT_CHARACTERS,
    Alert,
    Malformed,
    Name,
    Severity,
    ShortText,
    describe,
)
from services.contracts.watches import TEST_SEND
from services.lookout.routing import Instruction, Plan, Target, each_once

TARGETS_LIMIT: Final = 20
"""Most recipients of one trial."""
SENDER: Final = "lookout"
_SILENCES: Final = "heeds_silences"
_HEEDED: Final = "yes"
MARK: Final = "TEST"
"""Begins the subject of every trial."""


class _TargetPart(BaseModel):
    channel: Name
    recipient: ShortText


class _Carried(BaseModel):
    """What a trial's alert carries in its values."""

    targets: Annotated[tuple[_TargetPart, ...], Field(min_length=1, max_length=TARGETS_LIMIT)]


@dataclass(frozen=True, slots=True)
class Trial:
    """Whom to send a test to, in which words, and whether silences hold it back."""

    targets: tuple[Target, ...]
    asked_by: str
    severity: Severity = Severity.INFO
    text: str = ""
    heeds_silences: bool = False

    def alert(self, key: str, now_ms: int) -> Alert:
        """Return the alert to write; the same key always makes the same alert id."""
        said = self.text or "Nothing has happened: this message shows that it reaches you."
        targets = [{"channel": each.channel, "recipient": each.recipient} for each in self.targets]
        return Alert(
            alert_id=trial_id(key),
            watch=TEST_SEND,
            severity=self.severity,
            summary=said,
            key={"test": key[:SHORT_LIMIT_CHARACTERS]},
            labels={"asked_by": self.asked_by, _SILENCES: _HEEDED if self.heeds_silences else "no"},
            values={"targets": targets},
            appended_at_ms=now_ms,
            detected_at_ms=now_ms,
            auditor=SENDER,
        )


def trial_id(key: str) -> str:
    """Return the id of a trial's alert."""
    return ids.alert_id(TEST_SEND, [key])


def is_trial(alert: Alert) -> bool:
    """Tell whether an alert is a trial."""
    return alert.watch == TEST_SEND


def delivery_ids(alert_id: str, targets: Sequence[Target]) -> list[str]:
    """Return the ids that a trial's messages will have."""
    return [ids.delivery_id(alert_id, each.channel, each.recipient) for each in targets]


def trial_plan(alert: Alert, channels: Collection[str]) -> Plan:
    """Return whom a trial is for, instead of what routes would say.

    Raises:
        Malformed: somebody else wrote an alert under the reserved name, or for a channel that is
            not among these.
    """
    told = _carried(alert).targets
    for each in told:
        wrong = complaint(each.channel, each.recipient)
        if each.channel not in channels or wrong:
            raise Malformed(wrong or f"{TEST_SEND} by unknown channel {each.channel}")
    instructions = (Instruction(Target(each.channel, each.recipient), TEST_SEND) for each in told)
    return Plan((TEST_SEND,), (), each_once(instructions, alert.severity))


def is_exempt(alert: Alert) -> bool:
    """Tell whether nothing holds this alert back: a trial that does not heed silences."""
    return is_trial(alert) and alert.labels.get(_SILENCES) != _HEEDED


def marked(subject: str) -> str:
    """Return a subject that nobody takes for a real one."""
    return f"[{MARK}] {subject}"[:SHORT_LIMIT_CHARACTERS]


def _carried(alert: Alert) -> _Carried:
    try:
        return _Carried.model_validate(alert.values)
    except ValidationError as error:
        raise Malformed(f"no {TEST_SEND} of ours: {describe(error)}") from None
