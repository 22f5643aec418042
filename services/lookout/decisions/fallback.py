"""Fallback: who is told instead, as a pure function."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Final

from services.backbone.ledger.alerts.decisions import Decision
from services.backbone.ledger.alerts.fallbacks import Lost, Next, Rest
from services.backbone.ledger.alerts.intake import NewDelivery
from services.backbone.ledger.alerts.later import To
from services.backbone.ledger.alerts.told import Told
from services.contracts.ids import delivery_id
from services.contracts.records import Alert, Delivery, Malformed
from services.contracts.states import State
from services.lookout.decisions.escalation import REPETITION_LIMIT, Tell
from services.lookout.decisions.plans import read_plan
from services.lookout.decisions.waiting import stands_for
from services.lookout.routing import Instruction, Routes, Target
from services.lookout.templates.digest import Digest
from services.lookout.templates.rendering import Message

STAGE: Final = "fallback"
REASON_LIMIT_CHARACTERS: Final = 300

Write = Callable[[Instruction, int], NewDelivery]
"""Writes the message that follows, by an instruction, as a repetition."""


def fall_back(lost: Lost, told: Told, routes: Routes, tell: Tell) -> Next:
    """Return what follows a delivery that did not reach its recipient.

    A target that a message has reached, or may soon, is as good as told, and passed over if one
    failed there; after a step of an escalation only what was made since the step counts. A digest
    is a message of its own to who has only some of its alerts, or was not reached with one.
    """
    if lost.acknowledged:
        return Next(_decision(lost, "not needed", "the alert is acknowledged"))
    try:
        sent = Delivery.decode(lost.record.encode())
        digest = _digest(lost, sent)
    except Malformed as error:
        why = f"what failed cannot be read, and is told to nobody else: {_cut(str(error))}"
        return Next(_decision(lost, "exhausted", why), exhausted=True)

    def write(instead: Instruction, number: int) -> NewDelivery:
        return tell(sent.alert, instead, number, _opening(lost), lost.now, digest)

    return _next_target(lost, told, routes, write)


def _next_target(lost: Lost, told: Told, routes: Routes, write: Write) -> Next:
    instruction = read_plan(lost.plan, Target(lost.channel, lost.recipient), routes)
    for place, target in enumerate(instruction.fallback):
        if (target.channel, target.recipient) == (lost.channel, lost.recipient):
            continue
        if has := _has(lost, target, told, instruction.since):
            decided = _decision(lost, "already told", has)
            return Next(decided, rest=_taken_along(lost, told, place, instruction))
        if not lost.members and told.has_failed(_to(lost.alert_id, target), instruction.since):
            continue
        if (number := _free(lost, target, told)) is None:
            continue
        rest = instruction.fallback[place + 1 :]
        instead = replace(
            instruction.ungrouped(), target=target, fallback=rest, asked_at=lost.tried_at
        )
        made = write(instead, number)
        if made.suppression is not None and _waits(lost, instead, told, routes):
            why = f"{target.channel} to {target.recipient} has a message that waits as this would"
            return Next(_decision(lost, "already told", why))
        why = f"{target.channel} to {target.recipient} is told instead, after: {_reason(lost)}"
        return Next(_decision(lost, "next", why), made)
    why = f"no fallback is left, after: {_reason(lost)}"
    return Next(_decision(lost, "exhausted", why), exhausted=True)


def _named(lost: Lost, target: Target, number: int) -> str:
    return delivery_id(lost.alert_id, target.channel, target.recipient, number)


def _free(lost: Lost, target: Target, told: Told) -> int | None:
    """Return the first repetition that the target has no message of yet, if one is left."""
    numbers = range(lost.repetition, REPETITION_LIMIT + 1)
    return next((each for each in numbers if _named(lost, target, each) not in told.ids), None)


def _has(lost: Lost, target: Target, told: Told, since: datetime | None) -> str | None:
    """Say what the target has already, if that is all that was lost."""
    known = [told.has_reached(_to(each, target), since) for each in lost.alert_ids]
    if not all(known):
        return None
    what = f"each of its {len(known)} alerts" if lost.members else "the alert"
    return f"{target.channel} to {target.recipient} has {what}"


def _taken_along(lost: Lost, told: Told, place: int, listed: Instruction) -> Rest | None:
    """What may reach the target may yet fail there: whoever fails first, the list is told."""
    target, *rest = listed.fallback[place:]
    if lost.members or not rest:
        return None
    named = tuple((each.channel, each.recipient) for each in rest)
    return Rest(told.by[_to(lost.alert_id, target)], named, listed.fallback_on_held)


def _waits(lost: Lost, instead: Instruction, told: Told, routes: Routes) -> bool:
    """Tell whether of all that was lost messages wait that stand for the one instead."""
    to = (_to(each, instead.target) for each in lost.alert_ids)
    return all(stands_for(told.waiting.get(each, ()), instead, routes) for each in to)


def _to(alert_id: str, target: Target) -> To:
    return (alert_id, target.channel, target.recipient)


def _digest(lost: Lost, sent: Delivery) -> Digest | None:
    if not lost.members:
        return None
    alerts = tuple(Alert.decode(each.encode()) for each in lost.members)
    return Digest(Message(sent.subject, sent.text), alerts)


def _opening(lost: Lost) -> str:
    what = "failed" if lost.state is State.FAILED else "is held in doubt"
    return f"Fallback: {lost.channel} to {lost.recipient} {what}: {_reason(lost)}"


def _reason(lost: Lost) -> str:
    return _cut(lost.reason or "no reason is known")


def _cut(said: str) -> str:
    return said if len(said) <= REASON_LIMIT_CHARACTERS else said[:REASON_LIMIT_CHARACTERS] + "…"


def _decision(lost: Lost, decided: str, why: str) -> Decision:
    return Decision(lost.alert_id, lost.delivery_id, STAGE, decided, why)
