"""The parts `send`, `quiet`, `group` and `escalations`: who is told, when not, and who next."""

import re
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from services.contracts.records import Name
from services.lookout.routes.match_part import Severities, TimesNames
from services.lookout.routes.part import NOTHING, Part, Span, many

RECIPIENTS_LIMIT: Final = 100
"""Most recipients of one `send` or one `to`."""
STEPS_LIMIT: Final = 20
REPEATS_LIMIT: Final = 1000
"""Most repetitions of one step; a step whose `times` is left out is repeated that often."""
GROUP_LIMIT: Final = 1000
"""Most alerts in one message."""

_FIELD: Final = re.compile(r"watch|severity|(labels|key)\..{1,512}")

_Names = Annotated[tuple[Name, ...], BeforeValidator(many), Field(max_length=RECIPIENTS_LIMIT)]
_Recipients = Annotated[
    tuple[str, ...], BeforeValidator(many), Field(min_length=1, max_length=RECIPIENTS_LIMIT)
]


def _field(value: str) -> str:
    if not _FIELD.fullmatch(value):
        raise ValueError(f"{value!r} is none of watch, severity, labels.<name>, key.<name>")
    return value


AlertField = Annotated[str, AfterValidator(_field)]
"""Names a field of an alert, by which alerts are alike."""
AlertFields = Annotated[tuple[AlertField, ...], BeforeValidator(many), Field(max_length=16)]


class ToPart(Part):
    """Recipients of a channel, or people by their channels; exactly one of both is checked."""

    channel: Name | None = None
    to: _Recipients | None = None
    person: _Names = ()
    by: _Names = ()


class QuietPart(Part):
    """When recipients are left alone."""

    during: Name | None = None
    outside: Name | None = None
    unless: Severities | None = None

    def names(self) -> TimesNames:
        """Return the times that it names."""
        return tuple(name for name in (self.during, self.outside) if name is not None)


class GroupPart(Part):
    """Which alerts become one message."""

    by: AlertFields = ("watch",)
    wait: Span = 30.0
    limit: Annotated[int, Field(ge=2, le=GROUP_LIMIT)] = 100


NO_QUIET: Final = QuietPart()
NO_GROUP: Final = GroupPart()


def _no_quiet(value: Any) -> Any:
    return NO_QUIET if value == NOTHING else value


def _no_group(value: Any) -> Any:
    return NO_GROUP if value == NOTHING else value


OwnQuiet = Annotated[QuietPart | None, BeforeValidator(_no_quiet)]
"""Quiet hours, `NO_QUIET` itself where they are taken back, None where they are inherited."""
OwnGroup = Annotated[GroupPart | None, BeforeValidator(_no_group)]
"""A grouping, `NO_GROUP` itself where it is taken back, None where it is inherited."""


class SendPart(ToPart):
    """One item of `send`."""

    template: Name | None = None
    quiet: OwnQuiet = None
    fallback: Annotated[tuple[ToPart, ...], Field(max_length=10)] = ()
    fallback_on: Literal["failed", "held"] = "failed"


Sends = Annotated[tuple[SendPart, ...], Field(min_length=1, max_length=RECIPIENTS_LIMIT)]


class RepeatPart(Part):
    """How often a step comes again."""

    every: Span
    times: Annotated[int, Field(ge=1, le=REPEATS_LIMIT)] = REPEATS_LIMIT
    slower: Annotated[float, Field(ge=1, le=10)] = 1.0


class StepPart(Part):
    """One step of an escalation."""

    after: Span
    send: Sends
    repeat: RepeatPart | None = None


Steps = Annotated[tuple[StepPart, ...], Field(min_length=1, max_length=STEPS_LIMIT)]
