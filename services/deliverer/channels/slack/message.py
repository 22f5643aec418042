"""The message as Slack gets it, and how it is found again."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from services.deliverer.channel import Message

EVENT_TYPE: Final = "aldebaran_delivery"


def body(message: Message, conversation: str) -> dict[str, Any]:
    """Return what is posted; at most 24 kB, while Slack cuts at 40,000 characters."""
    delivery = message.worded
    subject = " ".join(delivery.subject.split())
    text = f"*{_escaped(subject)}*\n{_escaped(delivery.text)}\n`{delivery.delivery_id}`"
    return {
        "channel": conversation,
        "text": text,
        "unfurl_links": False,
        "unfurl_media": False,
        "metadata": {
            "event_type": EVENT_TYPE,
            "event_payload": {"delivery_id": delivery.delivery_id, "attempt": message.attempt},
        },
    }


def _escaped(text: str) -> str:
    """Replace the three characters that Slack takes for control."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def timestamp_of(messages: Iterable[Any], delivery_id: str) -> str | None:
    """Return the `ts` by which Slack names the message of a delivery, or None."""
    for each in messages:
        if isinstance(each, Mapping) and _carries(each, delivery_id):
            return str(each.get("ts", ""))
    return None


def next_cursor(page: Mapping[str, Any]) -> str:
    """Return where the history goes on after a page, or nothing."""
    metadata = page.get("response_metadata")
    return str(metadata.get("next_cursor", "")) if isinstance(metadata, Mapping) else ""


def _carries(message: Mapping[str, Any], delivery_id: str) -> bool:
    metadata = message.get("metadata")
    payload = metadata.get("event_payload") if isinstance(metadata, Mapping) else None
    named = payload.get("delivery_id") if isinstance(payload, Mapping) else None
    return named == delivery_id or f"`{delivery_id}`" in str(message.get("text", ""))
