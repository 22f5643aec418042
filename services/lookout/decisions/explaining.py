"""Says who would be told of an alert at a moment, why, when not, and what they would read."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Final

from services.contracts.records import Alert
from services.lookout.routing import (
    Considered,
    Grouping,
    Instruction,
    Quiet,
    Routes,
    Step,
    Target,
    decide,
)
from services.lookout.templates.messages import Occasion, Written, template_for, write

FIRST: Final = datetime(1970, 1, 1, tzinfo=UTC)
LAST: Final = datetime(9000, 1, 1, tzinfo=UTC)
"""What lies between can be asked about: every zone can tell it, and the weeks beside it."""


def askable(at: datetime) -> datetime:
    """Return a moment (with a zone) that can be asked about; ValueError if it is another."""
    if not FIRST <= at <= LAST:
        raise ValueError(f"ask about a moment from {_time(FIRST)} to {_time(LAST)}")
    return at


def explain(routes: Routes, alert: Alert, at: datetime) -> str:
    """Return the routes that were asked, who is told and how, what follows, and the messages."""
    plan = decide(routes, alert, at)
    lines = [
        f"at {_time(at)}, routes {routes.version_id}",
        *(_considered(each) for each in plan.considered),
        f"routed by: {', '.join(plan.routed_by)}",
        f"deliveries: {len(plan.instructions)}",
    ]
    for instruction in plan.instructions:
        lines += [f"  {_target(instruction.target)}", *_details(instruction, alert, at)]
    for name in plan.escalations:
        lines += [f"escalation {name}, while nobody has acknowledged:"]
        lines += [f"  {_step(step)}" for step in routes.escalations[name].steps]
    lines += [*_silences(routes, alert, at), *_inhibitions(routes, alert, at)]
    for heading, written in _messages(routes, alert, plan.instructions):
        trouble = [f"TEMPLATE FAILED: {written.trouble}"] if written.trouble else []
        lines += ["", heading, *trouble, written.message.subject, "", written.message.text]
    return "\n".join(lines)


def _considered(each: Considered) -> str:
    return f"  {'  ' * each.depth}{each.route}: {'yes' if each.fits else 'no'}, {each.why}"


def _details(told: Instruction, alert: Alert, at: datetime) -> Iterator[str]:
    yield f"    by route {told.route}, template {_template(told)}"
    if told.fallback:
        yield f"    if that fails for good: {', then '.join(map(_target, told.fallback))}"
    if told.quiet is not None:
        yield f"    quiet in {told.quiet.name}: {_quiet(told.quiet, alert, at)}"
    if told.grouping is not None:
        yield f"    {_grouping(told.grouping)}"


def _quiet(quiet: Quiet, alert: Alert, at: datetime) -> str:
    if quiet.spares(alert.severity):
        return f"{alert.severity} alerts are sent all the same"
    until = quiet.quiet_until(at)
    return f"held back until {_time(until)}" if until else "it is not quiet at that time"


def _grouping(grouping: Grouping) -> str:
    by = ", ".join(grouping.by) or "nothing: all in one"
    return (
        f"grouped by {by}: sent {grouping.wait_seconds:g} s after the first, "
        f"or when {grouping.limit} have come"
    )


def _step(step: Step) -> str:
    told = ", ".join(dict.fromkeys(_target(each.target) for each in step.instructions))
    line = f"after {step.after_seconds:g} s: {told}"
    if step.repeat_every_seconds is None:
        return line
    slower = f", each span {step.slower:g} times the one before" if step.slower > 1 else ""
    again = f"{step.repeat_times} times more, every {step.repeat_every_seconds:g} s"
    return f"{line}; {again}{slower}"


def _silences(routes: Routes, alert: Alert, at: datetime) -> Iterator[str]:
    for rule in routes.silences:
        until = rule.silent_until(at)
        if until is not None and rule.match.fits(alert, at):
            yield f"SILENCED until {_time(until)} by {rule.name} ({rule.author}: {rule.reason})"


def _inhibitions(routes: Routes, alert: Alert, at: datetime) -> Iterator[str]:
    for rule in routes.inhibitions:
        if rule.muted.fits(alert, at) and not rule.source.fits(alert, at):
            alike = f", alike in {', '.join(rule.equal)}," if rule.equal else ""
            yield f"held back by {rule.name} while an alert that it waits for{alike} is fresh"


def _messages(
    routes: Routes, alert: Alert, told: Iterable[Instruction]
) -> Iterator[tuple[str, Written]]:
    seen = set()
    for each in told:
        name = _template(each)
        if name not in seen:
            seen.add(name)
            occasion = Occasion(alert, each.route)
            yield (
                f"-- template {name} --",
                write(routes.templates, each.template, each.target.channel, occasion),
            )


def _template(told: Instruction) -> str:
    return template_for(told.target.channel, told.template)


def _target(target: Target) -> str:
    return f"{target.channel} to {target.recipient}"


def _time(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
