"""What a recipient looks like on each channel, so that a slip is found before the first alert."""

import re
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import urlsplit

from services.contracts import topics

RECIPIENT_LIMIT_CHARACTERS: Final = 512
AMQP_NAME_LIMIT_BYTES: Final = 255
NAGIOS_LIMIT_BYTES: Final = 255

_MAILBOX: Final = re.compile(
    r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}"
    r"@[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
    r"(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*"
)
_TOPIC: Final = re.compile(r"[A-Za-z0-9._-]{1,249}")
_PHONE_NUMBER: Final = re.compile(r"\+[1-9][0-9]{6,14}")
_ENDPOINT: Final = re.compile(r"[a-z0-9][a-z0-9_.-]{0,62}")
SLACK_CONVERSATION: Final = re.compile(r"[CGD][A-Z0-9]{8,20}")
"""How Slack names a channel, a group or a direct message."""
DEVICE_TOKEN: Final = re.compile(r"[0-9A-Fa-f]{64,200}")
"""How Apple names a phone with an app."""
_OWN_TOPICS: Final = (topics.ALERTS, topics.HEARTBEATS, topics.DELIVERY_EVENTS)
"""Of no cluster that the bus writes to: others' names may be somebody else's on another one."""


def complaint(channel: str, recipient: str) -> str | None:
    """Say why this cannot be a recipient of the channel, or None if it can."""
    if not recipient.strip():
        return "a recipient must not be empty"
    if len(recipient) > RECIPIENT_LIMIT_CHARACTERS:
        return f"a recipient has at most {RECIPIENT_LIMIT_CHARACTERS} characters"
    if not recipient.isprintable():
        return "a recipient must not contain control characters"
    check = _CHECKS.get(channel)
    return check(recipient) if check else None


def setting_of_name(channel: str, recipient: str) -> str | None:
    """Return the deliverer's setting that must have this recipient, if it is a name for one."""
    return _NAMES.get(channel) if _ENDPOINT.fullmatch(recipient) else None


def is_ours(topic: str) -> bool:
    """Tell whether a topic, on our own cluster, is one into which no message is written."""
    return topics.is_own(topic) and topic != topics.NOTIFICATIONS


def _email(recipient: str) -> str | None:
    if _MAILBOX.fullmatch(recipient):
        return None
    return f"{recipient!r} is no e-mail address, for example desk@example.com"


def _webhook(recipient: str) -> str | None:
    if _ENDPOINT.fullmatch(recipient):
        return None
    try:
        parts = urlsplit(recipient)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or " " in recipient:
        return f"{recipient!r} is neither an http(s) address nor the name of an endpoint"
    if parts.username or parts.password:
        return "an address must not carry a password: name an endpoint of the deliverer instead"
    return None


def _bus(recipient: str) -> str | None:
    if not _TOPIC.fullmatch(recipient) or recipient in (".", ".."):
        return f"{recipient!r} is no topic name"
    if recipient in _OWN_TOPICS or recipient.startswith(topics.deliveries("")):
        return f"topic {recipient} is Aldebaran's own: writing there could loop"
    return None


def _pagerduty(recipient: str) -> str | None:
    if re.fullmatch(r"[0-9a-fA-F]{32}", recipient):
        return "a routing key is secret: name it in pagerduty_routing_keys, and route to the name"
    return _entry("pagerduty", recipient)


def _push(recipient: str) -> str | None:
    if DEVICE_TOKEN.fullmatch(recipient):
        return None
    return _entry("push", recipient)


def _slack(recipient: str) -> str | None:
    if SLACK_CONVERSATION.fullmatch(recipient):
        return None
    if recipient.startswith("#"):
        return "Slack's history is searched by id: take the channel's id (C…), or a name for it"
    return _entry("slack", recipient)


def _entry(channel: str, recipient: str) -> str | None:
    if _ENDPOINT.fullmatch(recipient):
        return None
    return f"{recipient!r} is no name that {_NAMES[channel]} can have: small letters, digits, . _ -"


def _rabbitmq(recipient: str) -> str | None:
    if any(len(part.encode()) > AMQP_NAME_LIMIT_BYTES for part in recipient.split("/", 1)):
        return f"names of RabbitMQ have at most {AMQP_NAME_LIMIT_BYTES} bytes"
    if recipient == "/":
        return "an exchange or a queue is missing: name `exchange/routing.key`, or a queue"
    return None


def _sms(recipient: str) -> str | None:
    if _PHONE_NUMBER.fullmatch(recipient):
        return None
    return f"{recipient!r} is no phone number with its country's code, for example +41791234567"


def _nagios(recipient: str) -> str | None:
    host, slash, service = recipient.partition("/")
    if not host.strip() or (slash and not service.strip()):
        return f"{recipient!r} is neither `host/service` nor `host`"
    if ";" in recipient or len(recipient.encode()) > NAGIOS_LIMIT_BYTES:
        return f"names of Nagios have no semicolon, and here at most {NAGIOS_LIMIT_BYTES} bytes"
    return None


_NAMES: Final[Mapping[str, str]] = {
    "pagerduty": "pagerduty_routing_keys",
    "push": "push_devices",
    "slack": "slack_channels",
    "webhook": "webhook_targets",
}

_CHECKS: Final[Mapping[str, Callable[[str], str | None]]] = {
    "bus": _bus,
    "email": _email,
    "nagios": _nagios,
    "nrdp": _nagios,
    "pagerduty": _pagerduty,
    "push": _push,
    "rabbitmq": _rabbitmq,
    "sms": _sms,
    "slack": _slack,
    "webhook": _webhook,
}
