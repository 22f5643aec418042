"""Judgement: whether a message goes out now or waits, and for what; a pure function of values.

The first of these that holds a message back is its reason; when that ends, it is judged anew:

1. silences by people, and maintenance windows of the routes: the one that lasts longest;
2. inhibition: a stronger alert about the same thing is fresh, and nobody has acknowledged it;
3. quiet hours of the recipient, unless the severity overrides them;
4. grouping: the first of its group waits, and those that come meanwhile join it.

Grouping is last so that a digest never holds what somebody asked not to hear of.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from services.backbone.ledger.alerts.suppressions import Kind, Suppression
from services.contracts.ids import digest
from services.contracts.records import Alert
from services.lookout.routing import Grouping, Instruction, Plan
from services.lookout.standing import Standing, value
from services.lookout.trials import is_exempt


@dataclass(frozen=True, slots=True)
class Judged:
    """One recipient's verdict: send now, or wait as the suppression says."""

    instruction: Instruction
    suppression: Suppression | None

    @property
    def why(self) -> str:
        """The verdict in words."""
        return self.suppression.why if self.suppression else "nothing holds it back"


def judge(plan: Plan, alert: Alert, standing: Standing, at: datetime) -> tuple[Judged, ...]:
    """Judge every recipient of a plan at one moment (with a time zone)."""
    held = for_everybody(alert, standing, at)
    return tuple(Judged(each, held or for_recipient(each, alert, at)) for each in plan.instructions)


def judge_one(
    instruction: Instruction, alert: Alert, standing: Standing, at: datetime
) -> Suppression | None:
    """Judge one recipient."""
    return for_everybody(alert, standing, at) or for_recipient(instruction, alert, at)


def hold_together(verdicts: Iterable[Suppression | None]) -> Suppression | None:
    """Return what holds back a message that tells several alerts, by the verdict on each.

    It goes as soon as any of them may be told, so it waits for the first of the waits to end.
    """
    waits: list[Suppression] = []
    for each in verdicts:
        if each is None:
            return None
        waits.append(each)
    first = min(waits, key=lambda each: (each.until, each.by))
    if len(waits) == 1:
        return first
    return replace(first, why=f"none of its {len(waits)} alerts may be told now, first {first.why}")


def for_everybody(alert: Alert, standing: Standing, at: datetime) -> Suppression | None:
    """Return what holds an alert back from all its recipients."""
    if is_exempt(alert):
        return None
    return standing.silenced(alert, at) or standing.inhibited(alert, at)


def for_recipient(instruction: Instruction, alert: Alert, at: datetime) -> Suppression | None:
    """Return what holds an alert back from one recipient."""
    if (quiet := _quiet(instruction, alert, at)) is not None:
        return quiet
    if instruction.grouping is None:
        return None
    return _group(instruction, instruction.grouping, alert, at)


def _quiet(instruction: Instruction, alert: Alert, at: datetime) -> Suppression | None:
    if instruction.quiet is None or not instruction.quiet_for(alert.severity):
        return None
    until = instruction.quiet.quiet_until(at)
    if until is None:
        return None
    return Suppression(Kind.QUIET, instruction.quiet.name, until, f"quiet {instruction.quiet.name}")


def _group(instruction: Instruction, grouping: Grouping, alert: Alert, at: datetime) -> Suppression:
    values = [value(alert, name) for name in grouping.by]
    target = (instruction.target.channel, instruction.target.recipient)
    alike = ", ".join(f"{name} {each!r}" for name, each in zip(grouping.by, values, strict=True))
    return Suppression(
        Kind.GROUP,
        instruction.route,
        at + timedelta(seconds=grouping.wait_seconds),
        f"grouped by {alike}" if alike else "grouped with all alerts of its route",
        group_key=digest(
            "group", instruction.route, *target, *grouping.by, *values, *_fallback(instruction)
        ),
        group_limit=grouping.limit,
    )


def _fallback(instruction: Instruction) -> tuple[str, ...]:
    """A digest has the fallback of its carrier, so only those are together that have the same."""
    if not instruction.fallback:
        return ()
    named = [name for each in instruction.fallback for name in (each.channel, each.recipient)]
    return (digest("held" if instruction.fallback_on_held else "failed", *named),)
