"""What goes to Apple: headers and payload, as pure functions of the delivery."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from services.contracts.records import Delivery, Severity
from services.contracts.texts import shortened
from services.deliverer.channel import Message

PAYLOAD_LIMIT_BYTES: Final = 4096
TITLE_LIMIT_CHARACTERS: Final = 256


@dataclass(frozen=True, slots=True)
class Urgency:
    """How Apple treats a severity: 10 is at once, 5 may wait for the battery's sake."""

    priority: int
    interruption: str


_URGENCIES: Final[Mapping[Severity, Urgency]] = {
    Severity.CRITICAL: Urgency(10, "time-sensitive"),
    Severity.WARNING: Urgency(10, "active"),
    Severity.INFO: Urgency(5, "passive"),
}


def apns_id(delivery_id: str) -> str:
    """Return the notification's UUID: nearly the delivery id itself, in Apple's spelling."""
    return str(UUID(hex=delivery_id, version=5))


def headers(delivery: Delivery, topic: str, expires_at_seconds: int) -> dict[str, str]:
    """Return the headers but for the authorization."""
    return {
        "apns-id": apns_id(delivery.delivery_id),
        "apns-collapse-id": delivery.delivery_id,
        "apns-topic": topic,
        "apns-push-type": "alert",
        "apns-priority": str(_URGENCIES[delivery.alert.severity].priority),
        "apns-expiration": str(expires_at_seconds),
    }


def payload(message: Message) -> bytes:
    """Return the JSON payload; where it would be too large, its text is cut and nothing else."""
    delivery = message.worded

    def encoded(text: str) -> bytes:
        return json.dumps(_content(delivery, text), ensure_ascii=False).encode()

    return encoded(fitted(delivery.text, lambda text: len(encoded(text)) <= PAYLOAD_LIMIT_BYTES))


def _content(delivery: Delivery, text: str) -> dict[str, Any]:
    alert = delivery.alert
    return {
        "aps": {
            "alert": {"title": delivery.subject[:TITLE_LIMIT_CHARACTERS], "body": text},
            "sound": "default",
            "thread-id": alert.watch,
            "interruption-level": _URGENCIES[alert.severity].interruption,
        },
        "delivery_id": delivery.delivery_id,
        "alert_id": alert.alert_id,
        "watch": alert.watch,
        "severity": alert.severity.value,
    }


def fitted(text: str, fits: Callable[[str], bool]) -> str:
    """Return the text, or as much of it as fits with an ellipsis where it is cut."""
    if fits(text):
        return text
    kept, too_many = 1, len(text)
    while too_many - kept > 1:
        middle = (kept + too_many) // 2
        if fits(shortened(text, middle)):
            kept = middle
        else:
            too_many = middle
    return shortened(text, kept)
