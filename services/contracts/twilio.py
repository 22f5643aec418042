"""What the parts that talk with Twilio agree on: addresses, codes, and what its words mean."""

from collections.abc import Mapping
from enum import Enum
from typing import Final

CALLBACK_PATH: Final = "/twilio"
"""Where the callbacks' door takes status callbacks: `<path>/<delivery id>?attempt=<number>`."""
CALLBACK_OVERRIDES: Final = "rc=5&rp=all"
"""Connection overrides, the fragment of a callback's address: without them Twilio asks again only
after a failed connection, and never after a 503. All its tries end within 15 seconds."""

_CODE_CHARACTERS: Final = 10


class Fate(Enum):
    """What a message's status says about it."""

    UNDER_WAY = "Twilio has it"
    DELIVERED = "the carrier confirmed it"
    LOST = "it was not delivered"


_FATES: Final[Mapping[str, Fate]] = {
    "delivered": Fate.DELIVERED,
    "read": Fate.DELIVERED,
    "failed": Fate.LOST,
    "undelivered": Fate.LOST,
    "canceled": Fate.LOST,
}

_ERRORS: Final[Mapping[int, str]] = {
    30001: "Twilio's queue was full",
    30002: "the Twilio account is suspended",
    30003: "the phone cannot be reached just now",
    30004: "the recipient or the carrier blocks messages",
    30005: "the number is unknown or no longer used",
    30006: "a landline, or a carrier that cannot be reached",
    30007: "filtered as unwanted by the carrier",
    30008: "the carrier gave no reason",
    30032: "the toll-free sender is not verified",
    30034: "the sender is not registered with the carriers",
    30036: "it waited longer than its validity period",
    30450: "the carrier's limit for this number is reached",
}


def callback_address(public_url: str, delivery_id: str, attempt: int) -> str:
    """Return the StatusCallback of one try; `public_url` has no slash at its end."""
    return f"{public_url}{CALLBACK_PATH}/{delivery_id}?attempt={attempt}#{CALLBACK_OVERRIDES}"


def body_code(delivery_id: str) -> str:
    """Return the short code in a message's text by which it is found in Twilio's list."""
    return f"#{delivery_id[:_CODE_CHARACTERS]}"


def fate(status: str) -> Fate:
    """Return what a MessageStatus says; one that is not known tells that Twilio has it."""
    return _FATES.get(status, Fate.UNDER_WAY)


def told(status: str, error_code: str) -> str:
    """Say in words what a status with its error code (or "") tells."""
    said = f"Twilio says {status[:40]}"
    if not error_code.isascii() or not error_code.isdecimal():
        return said
    meaning = _ERRORS.get(int(error_code[:9]))
    return f"{said}, error {error_code[:9]}" + (f": {meaning}" if meaning else "")
