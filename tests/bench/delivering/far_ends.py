"""The far end of each channel that is measured: whom to tell, and how to reach the provider."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

NOTIFICATIONS: Final = "notifications"
_ADDRESS: Final = "http://127.0.0.1:{}"


@dataclass(frozen=True)
class FarEnd:
    """A recipient, and the settings of the channel's deliverer."""

    recipient: str
    settings: Mapping[str, str] = field(default_factory=dict)


def _sms(port: int) -> FarEnd:
    settings = {
        "ALDEBARAN_SMS_API_URL": _ADDRESS.format(port),
        "ALDEBARAN_SMS_ACCOUNT_SID": "AC" + "0" * 32,
        "ALDEBARAN_SMS_AUTH_TOKEN": "bench",
        "ALDEBARAN_SMS_SENDER": "+15005550006",
        "ALDEBARAN_CALLBACKS_PUBLIC_URL": "https://callbacks.invalid",
    }
    return FarEnd("+15005550009", settings)


def _email(port: int) -> FarEnd:
    return FarEnd("desk@example.com", {"ALDEBARAN_EMAIL_PORT": str(port)})


FAR_ENDS: Final[Mapping[str, Callable[[int], FarEnd]]] = {
    "webhook": lambda port: FarEnd(f"{_ADDRESS.format(port)}/in"),
    "bus": lambda _: FarEnd(NOTIFICATIONS),
    "sms": _sms,
    "email": _email,
}
"""By channel, given the port on which the receiver listens."""
