"""From an alert to what is recorded: its deliveries, one per recipient, with fixed ids."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from services.backbone.ledger.alerts.intake import NewAlert, NewDelivery
from services.contracts.ids import delivery_id
from services.contracts.records import Alert, Delivery, Malformed
from services.lookout.decisions.accounts import encode_decision
from services.lookout.decisions.escalation import begin
from services.lookout.decisions.judgement import Judged, judge
from services.lookout.decisions.plans import encode_plan
from services.lookout.routing import Escalation, Plan, Routes, decide
from services.lookout.standing import Standing, inhibits
from services.lookout.templates.rendering import Message
from services.lookout.templates.words import NO_LINKS, Words
from services.lookout.trials import is_trial, trial_plan

ALERT_LIMIT_BYTES: Final = 900 * 1024
"""A delivery holds the alert and its text, and must fit a record of its topic (1 MiB)."""
FANOUT_LIMIT_BYTES: Final = 16 * 1024 * 1024
"""All deliveries of one alert, and of one step of its escalations, so that they fit one transaction
and a lookout's memory."""
DEPTH_LIMIT: Final = 100
"""Levels of an alert's values. Who reads a record gives up at 200, and a delivery adds some."""


@dataclass(frozen=True, slots=True)
class Unusable:
    """An alert that cannot be recorded: a reason from a short list, and what exactly is wrong."""

    alert_id: str
    reason: str
    detail: str


def fan_out(
    alert: Alert,
    routes: Routes,
    standing: Standing,
    now_ms: int,
    words: Words = NO_LINKS,
    channels: Collection[str] = (),
) -> NewAlert | Unusable:
    """Route an alert, judge who is told now and who later, and write its deliveries.

    `channels` are those by which trials may be sent.
    """
    encoded = alert.encode()
    if (unfit := _unfit(alert, encoded)) is not None:
        return unfit
    at = datetime.fromtimestamp(now_ms / 1000, UTC)
    try:
        plan = trial_plan(alert, channels) if is_trial(alert) else decide(routes, alert, at)
    except Malformed as error:
        return Unusable(alert.alert_id, "malformed", str(error))
    begun = tuple(routes.escalations[name] for name in plan.escalations)
    if (unfit := _too_many(alert, encoded, plan, begun)) is not None:
        return unfit
    judged = judge(plan, alert, standing, at)
    write = words.of(alert, routes, now_ms)
    deliveries = tuple(
        new_delivery(alert, each, write(each.instruction, 0), now_ms) for each in judged
    )
    told = ((new.delivery.delivery_id, each) for new, each in zip(deliveries, judged, strict=True))
    return NewAlert(
        alert,
        encoded,
        ", ".join(plan.routed_by),
        deliveries,
        decision=encode_decision(routes, plan, told, at),
        inhibits=() if is_trial(alert) else inhibits(routes.inhibitions, alert, at),
        steps=begin(begun),
    )


def _unfit(alert: Alert, encoded: bytes) -> Unusable | None:
    """Return what an alert has too much of, whoever is told of it."""
    if len(encoded) > ALERT_LIMIT_BYTES:
        detail = f"an alert has at most {ALERT_LIMIT_BYTES} bytes"
        return Unusable(alert.alert_id, "too_large", detail)
    if _brackets(encoded) > DEPTH_LIMIT and _is_deeper(alert.values, DEPTH_LIMIT):
        detail = f"an alert's values have at most {DEPTH_LIMIT} levels"
        return Unusable(alert.alert_id, "too_deep", detail)
    return None


def _too_many(
    alert: Alert, encoded: bytes, plan: Plan, begun: Sequence[Escalation]
) -> Unusable | None:
    """Return whether an alert is too large for those who are told of it together, now or later."""
    steps = (
        (len({told.target for told in step.instructions}), f" of escalation {each.name}")
        for each in begun
        for step in each.steps
    )
    count, where = max(((len(plan.targets), ""), *steps))
    if len(encoded) * count <= FANOUT_LIMIT_BYTES:
        return None
    detail = f"{len(encoded)} bytes for each of {count} recipients{where}"
    return Unusable(alert.alert_id, "too_large", detail)


def _brackets(encoded: bytes) -> int:
    return encoded.count(b"[") + encoded.count(b"{")


def _is_deeper(value: Any, levels: int) -> bool:
    match value:
        case dict():
            inner: Iterable[Any] = value.values()
        case list():
            inner = value
        case _:
            return False
    return levels == 0 or any(_is_deeper(each, levels - 1) for each in inner)


def new_delivery(
    alert: Alert, judged: Judged, message: Message, now_ms: int, repetition: int = 0
) -> NewDelivery:
    """Return what is recorded of one message to one recipient."""
    target = judged.instruction.target
    delivery = Delivery(
        delivery_id=delivery_id(alert.alert_id, target.channel, target.recipient, repetition),
        channel=target.channel,
        recipient=target.recipient,
        repetition=repetition,
        subject=message.subject,
        text=message.text,
        created_at_ms=now_ms,
        alert=alert,
    )
    plan = encode_plan(judged.instruction)
    return NewDelivery(delivery, delivery.encode(), plan, judged.suppression)
