"""From an alert to what is recorded: its deliveries, one per recipient, with fixed ids."""

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, partial
from typing import Final

from services.backbone.ledger.intake import NewAlert, NewDelivery
from services.contracts.ids import delivery_id
from services.contracts.records import Alert, Delivery
from services.lookout.accounts import encode_decision
from services.lookout.judgement import Judged, judge
from services.lookout.plans import encode_plan
from services.lookout.rendering import Message
from services.lookout.routing import Routes, decide
from services.lookout.standing import Standing, inhibits
from services.lookout.templates.messages import Occasion, tell

ALERT_LIMIT_BYTES: Final = 900 * 1024
"""A delivery holds the alert and its text, and must fit a record of its topic (1 MiB)."""
FANOUT_LIMIT_BYTES: Final = 64 * 1024 * 1024
"""All deliveries of one alert, so that they fit one transaction."""


@dataclass(frozen=True, slots=True)
class Unusable:
    """Why an alert cannot be recorded: a reason from a short list, and what exactly is wrong."""

    reason: str
    detail: str


def fan_out(alert: Alert, routes: Routes, standing: Standing, now_ms: int) -> NewAlert | Unusable:
    """Route an alert, judge who is told now and who later, and write its deliveries."""
    encoded = alert.encode()
    if len(encoded) > ALERT_LIMIT_BYTES:
        return Unusable("too_large", f"an alert has at most {ALERT_LIMIT_BYTES} bytes")
    at = datetime.fromtimestamp(now_ms / 1000, UTC)
    plan = decide(routes, alert, at)
    if len(encoded) * len(plan.targets) > FANOUT_LIMIT_BYTES:
        detail = f"{len(encoded)} bytes for each of {len(plan.targets)} recipients"
        return Unusable("too_large", detail)
    judged = judge(plan, alert, standing, at)
    # Many recipients often read the same words.
    message = cache(partial(_message, routes, alert))
    deliveries = tuple(_delivery(alert, each, message(*_words(each)), now_ms) for each in judged)
    told = ((new.delivery.delivery_id, each) for new, each in zip(deliveries, judged, strict=True))
    return NewAlert(
        alert,
        encoded,
        ", ".join(plan.routed_by),
        deliveries,
        decision=encode_decision(routes, plan, told, at),
        inhibits=inhibits(routes.inhibitions, alert, at),
    )


def _words(judged: Judged) -> tuple[str | None, str, str]:
    told = judged.instruction
    return told.template, told.target.channel, told.route


def _message(
    routes: Routes, alert: Alert, template: str | None, channel: str, route: str
) -> Message:
    return tell(routes.templates, template, channel, Occasion(alert, route))


def _delivery(alert: Alert, judged: Judged, message: Message, now_ms: int) -> NewDelivery:
    target = judged.instruction.target
    delivery = Delivery(
        delivery_id=delivery_id(alert.alert_id, target.channel, target.recipient),
        channel=target.channel,
        recipient=target.recipient,
        subject=message.subject,
        text=message.text,
        created_at_ms=now_ms,
        alert=alert,
    )
    plan = encode_plan(judged.instruction)
    return NewDelivery(delivery, delivery.encode(), plan, judged.suppression)
