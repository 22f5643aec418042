"""Fallback: who is told instead, as a pure function."""

from dataclasses import replace
from typing import Final

from services.backbone.ledger.decisions import Decision
from services.backbone.ledger.fallbacks import Lost, Next, Told
from services.contracts.ids import delivery_id
from services.contracts.records import Alert, Delivery
from services.lookout.digest import Digest
from services.lookout.escalation import Tell
from services.lookout.plans import read_plan
from services.lookout.rendering import Message
from services.lookout.routing import Routes, Target

STAGE: Final = "fallback"
REASON_LIMIT_CHARACTERS: Final = 300


def fall_back(lost: Lost, told: Told, routes: Routes, tell: Tell) -> Next:
    """Return what follows a delivery that did not reach its recipient.

    The next id follows from the lost delivery's, so that deciding again makes the same message. A
    target that has that message already is as good as told, and passed over if it failed there.
    """
    if lost.acknowledged:
        return Next(_decision(lost, "not needed", "the alert is acknowledged"))
    instruction = read_plan(lost.plan, Target(lost.channel, lost.recipient), routes)
    for place, target in enumerate(instruction.fallback):
        named = delivery_id(lost.alert_id, target.channel, target.recipient, lost.repetition)
        if named == lost.delivery_id or told.get(named):
            continue
        if named in told:
            why = f"{target.channel} to {target.recipient} has the alert by delivery {named}"
            return Next(_decision(lost, "already told", why))
        rest = instruction.fallback[place + 1 :]
        instead = replace(
            instruction, target=target, fallback=rest, grouping=None, asked_at=lost.tried_at
        )
        sent = Delivery.decode(lost.record.encode())
        message = tell(
            sent.alert, instead, lost.repetition, _opening(lost), lost.now, _digest(lost, sent)
        )
        why = f"{target.channel} to {target.recipient} is told instead, after: {_reason(lost)}"
        return Next(_decision(lost, "next", why), message)
    why = f"no fallback is left, after: {_reason(lost)}"
    return Next(_decision(lost, "exhausted", why), exhausted=True)


def _digest(lost: Lost, sent: Delivery) -> Digest | None:
    if not lost.members:
        return None
    alerts = tuple(Alert.decode(each.encode()) for each in lost.members)
    return Digest(Message(sent.subject, sent.text), alerts)


def _opening(lost: Lost) -> str:
    what = "failed" if lost.state == "FAILED" else "is held in doubt"
    return f"Fallback: {lost.channel} to {lost.recipient} {what}: {_reason(lost)}"


def _reason(lost: Lost) -> str:
    said = lost.reason or "no reason is known"
    return said if len(said) <= REASON_LIMIT_CHARACTERS else said[:REASON_LIMIT_CHARACTERS] + "…"


def _decision(lost: Lost, decided: str, why: str) -> Decision:
    return Decision(lost.alert_id, lost.delivery_id, STAGE, decided, why)
