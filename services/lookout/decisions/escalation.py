"""Escalation: what a step that is due comes to, as a pure function."""

import math
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final, Protocol

from services.backbone.ledger.alerts.decisions import Decision
from services.backbone.ledger.alerts.escalations import Due, Turn
from services.backbone.ledger.alerts.intake import NewDelivery
from services.backbone.ledger.alerts.later import Earlier, To
from services.backbone.ledger.alerts.steps import NewStep
from services.contracts.records import Alert
from services.lookout.decisions.step_plan import StepPlan
from services.lookout.decisions.waiting import stands_for
from services.lookout.routing import Escalation, Instruction, Routes, Step, each_once
from services.lookout.standing import found_at
from services.lookout.templates.digest import Digest

STAGE: Final = "escalation"
REPETITION_LIMIT: Final = 1000
"""Most repetitions of one message that a Delivery can carry."""
AGAIN_LIMIT_SECONDS: Final = 30 * 86_400.0
"""A step that slows down comes again at least this often."""


class Tell(Protocol):
    """Makes messages."""

    def __call__(
        self,
        alert: Alert,
        told: Instruction,
        number: int,
        opening: str,
        at: datetime,
        digest: Digest | None = None,
    ) -> NewDelivery:
        """Return a message with a repetition number and a first line; a digest keeps its words."""


def begin(escalations: Iterable[Escalation]) -> tuple[NewStep, ...]:
    """Return the steps to record with an alert."""
    return tuple(
        NewStep(each.name, number, step.after_seconds, StepPlan(step, len(each.steps)).encode())
        for each in escalations
        for number, step in enumerate(each.steps)
    )


def escalate(due: Due, earlier: Earlier, routes: Routes, tell: Tell) -> Turn:
    """Return what a due step comes to: nothing if somebody has acknowledged, else its messages.

    Who stands in it twice, as a person and by number for example, is told once, as by two routes.
    Whose message would wait as one does that was made before gets no other.
    """
    if due.acknowledged:
        return Turn(decisions=(_decision(due, "ended", "the alert is acknowledged"),), ended=True)
    alert = Alert.decode(due.record.encode())
    plan = StepPlan.read(due.plan, routes)
    opening, asked_at = _opening(due, plan), _asked_at(due, alert)
    made: list[NewDelivery] = []
    decisions: list[Decision] = []
    for told in each_once(plan.step.instructions, alert.severity):
        to = (due.alert_id, told.target.channel, told.target.recipient)
        if (number := earlier.next(to)) > REPETITION_LIMIT:
            decisions.append(_not_told(due, to, f"was told {REPETITION_LIMIT} times"))
            continue
        instruction = replace(told.ungrouped(), asked_at=asked_at, since=due.now)
        message = tell(alert, instruction, number, opening, due.now)
        waiting = earlier.waiting.get(to, ())
        if message.suppression is not None and stands_for(waiting, instruction, routes):
            decisions.append(_not_told(due, to, "has a message that waits as this would"))
            continue
        made.append(message)
        decisions.append(_told(due, message, opening))
    return Turn(tuple(made), tuple(decisions), again_seconds(plan.step, due.repetition))


def again_seconds(step: Step, done: int) -> float | None:
    """Return in how many seconds a step comes again that was done `done` times before; or None."""
    every = step.repeat_every_seconds
    if every is None or done >= step.repeat_times:
        return None
    # In logarithms, since a factor to the power of many repetitions is no number any more.
    growth = done * math.log(step.slower)
    if growth >= math.log(AGAIN_LIMIT_SECONDS / every):
        return AGAIN_LIMIT_SECONDS
    return every * math.exp(growth)


def _asked_at(due: Due, alert: Alert) -> datetime:
    """A step is asked for when it is due; one of an alert that came late is as late as that."""
    came_late = due.accepted_at - found_at(alert)
    return due.due_at - max(timedelta(0), came_late)


def _opening(due: Due, plan: StepPlan) -> str:
    step = f"step {due.step + 1} of {plan.steps}"
    again = f", time {due.repetition + 1}" if due.repetition else ""
    waited = spoken(plan.step.after_seconds)
    return f"Escalation {due.name}, {step}{again}: nobody has acknowledged this within {waited}."


def spoken(seconds: float) -> str:
    """Say a span as people do."""
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"


def _told(due: Due, message: NewDelivery, opening: str) -> Decision:
    made = message.delivery
    kept_back = message.suppression
    why = f"{made.channel} to {made.recipient}, message {made.repetition + 1}: {opening}"
    if kept_back is not None:
        why += f" It waits: {kept_back.why}"
    return Decision(due.alert_id, made.delivery_id, STAGE, "told", why)


def _not_told(due: Due, to: To, why: str) -> Decision:
    _, channel, recipient = to
    return _decision(due, "not told", f"{channel} to {recipient} {why}")


def _decision(due: Due, decided: str, why: str) -> Decision:
    step = f"{due.name} step {due.step + 1}"
    return Decision(due.alert_id, None, STAGE, decided, f"{step}: {why}")
