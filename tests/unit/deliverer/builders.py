"""Deliveries whose every field has a default, and claims of them."""

from collections.abc import Sequence
from typing import Final

from services.backbone.clock import SystemClock
from services.backbone.ledger.deliveries.claims import Claim, is_cut
from services.contracts.ids import alert_id, delivery_id
from services.contracts.records import Alert, Delivery, Severity
from services.contracts.states import State

FOUND_AT_MS: Final = SystemClock().now_ms()
"""Now, since what was found long ago is not sent."""


def delivery(
    number: int,
    channel: str = "webhook",
    recipient: str = "someone",
    severity: Severity = Severity.WARNING,
    text: str = "ten seen, nine allowed",
) -> Delivery:
    alert = Alert(
        alert_id=alert_id("too-many", [str(number)]),
        watch="too-many",
        severity=severity,
        summary="ten seen, nine allowed",
        key={"number": str(number)},
        appended_at_ms=FOUND_AT_MS - 3,
        detected_at_ms=FOUND_AT_MS,
        auditor="a",
    )
    return Delivery(
        delivery_id=delivery_id(alert.alert_id, channel, recipient),
        channel=channel,
        recipient=recipient,
        subject=f"too many of {number}",
        text=text,
        created_at_ms=FOUND_AT_MS + 2,
        alert=alert,
    )


def long_delivery(number: int, characters: int, recipient: str = "someone") -> Delivery:
    """Return one whose alert has a value of so many characters."""
    one = delivery(number, recipient=recipient)
    alert = one.alert.model_copy(update={"values": {"text": "x" * characters}})
    return one.model_copy(update={"alert": alert})


def _claim(one: Delivery) -> Claim:
    record = one.encode().decode()
    ids = (one.delivery_id, one.alert.alert_id, one.channel, one.recipient)
    return Claim(*ids, record, State.PENDING, attempt=1, fence=1, marked_repeat=False)


def claims_of(fits: Sequence[Delivery], characters: int) -> list[Claim]:
    """Return claims of the first deliveries, until they are long enough together."""
    claimed: list[Claim] = []
    while len(claimed) < len(fits) and not is_cut(claimed, characters):
        claimed.append(_claim(fits[len(claimed)]))
    return claimed
