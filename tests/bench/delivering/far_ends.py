"""The far end of each channel that is measured: whom to tell, and how to reach the provider."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

NOTIFICATIONS: Final = "notifications"
_NAME: Final = "desk"


@dataclass(frozen=True)
class Site:
    """Where a receiver listens, or what folder it reads."""

    port: int
    folder: Path

    @property
    def web(self) -> str:
        """The address of what listens."""
        return f"http://127.0.0.1:{self.port}"


@dataclass(frozen=True)
class FarEnd:
    """A recipient, and the settings of the channel's deliverer."""

    recipient: str
    settings: Mapping[str, str] = field(default_factory=dict)


def _sms(site: Site) -> FarEnd:
    settings = {
        "ALDEBARAN_SMS_API_URL": site.web,
        "ALDEBARAN_SMS_ACCOUNT_SID": "AC" + "0" * 32,
        "ALDEBARAN_SMS_AUTH_TOKEN": "bench",
        "ALDEBARAN_SMS_SENDER": "+15005550006",
        "ALDEBARAN_CALLBACKS_PUBLIC_URL": "https://callbacks.invalid",
    }
    return FarEnd("+15005550009", settings)


def _email(site: Site) -> FarEnd:
    return FarEnd("desk@example.com", {"ALDEBARAN_EMAIL_PORT": str(site.port)})


def _pagerduty(site: Site) -> FarEnd:
    settings = {
        "ALDEBARAN_PAGERDUTY_URL": site.web,
        "ALDEBARAN_PAGERDUTY_ROUTING_KEYS": json.dumps({_NAME: "0" * 32}),
    }
    return FarEnd(_NAME, settings)


def _slack(site: Site) -> FarEnd:
    """Slack itself takes one message a second: that wait would be all that is measured."""
    settings = {
        "ALDEBARAN_SLACK_URL": site.web,
        "ALDEBARAN_SLACK_BOT_TOKEN": "xoxb-bench",
        "ALDEBARAN_SLACK_SECONDS_BETWEEN": "0",
    }
    return FarEnd("C0123456789", settings)


def _nrdp(site: Site) -> FarEnd:
    settings = {"ALDEBARAN_NRDP_URL": f"{site.web}/nrdp/", "ALDEBARAN_NRDP_TOKEN": "bench"}
    return FarEnd("host/service", settings)


def _nagios(site: Site) -> FarEnd:
    return FarEnd("host/service", {"ALDEBARAN_NAGIOS_SPOOL": str(site.folder)})


def _log(site: Site) -> FarEnd:
    return FarEnd(_NAME, {"ALDEBARAN_LOG_CHANNEL_FILE": str(site.folder / "lines")})


FAR_ENDS: Final[Mapping[str, Callable[[Site], FarEnd]]] = {
    "webhook": lambda site: FarEnd(f"{site.web}/in"),
    "bus": lambda _: FarEnd(NOTIFICATIONS),
    "sms": _sms,
    "email": _email,
    "pagerduty": _pagerduty,
    "slack": _slack,
    "nrdp": _nrdp,
    "nagios": _nagios,
    "log": _log,
}
"""By channel, given where the receiver is."""
