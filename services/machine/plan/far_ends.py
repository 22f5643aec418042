"""Where each channel's deliveries go: to the inbox, unless the user names a place of their own.

Names, tokens and numbers here are those of the inbox's made-up accounts and are no secrets.
"""

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from services.backbone.errors import Refused
from services.backbone.settings import PREFIX
from services.backbone.settings_sources import secret_files, settings_file
from services.machine.problems import MachineProblem
from services.machine.settings import MachineSettings

DESK: Final = "desk"
"""What the made-up accounts call the desk that is told."""
PHONE_TOKEN: Final = "a1" * 32
_SLACK_CONVERSATION: Final = "C0DESK0001"
_PAGERDUTY_KEY: Final = "0" * 31 + "1"
_TWILIO_ACCOUNT: Final = "AC" + "0" * 31 + "1"
_TOKEN: Final = "inbox-token"  # noqa: S105 - a stand-in's, known to everybody

Settings = Mapping[str, str]


@dataclass(frozen=True)
class Inbox:
    """Where the inbox listens and what it reads, on this machine."""

    settings: MachineSettings

    @property
    def web(self) -> str:
        """The address of all providers that are played over HTTP."""
        return f"http://127.0.0.1:{self.settings.port_inbox_hook}"

    @property
    def apple(self) -> Path:
        """The folder of Apple's made-up account."""
        return self.settings.home.resolve() / "apns"

    @property
    def spool(self) -> Path:
        """The folder that is read as Nagios reads its spool."""
        return self.settings.home.resolve() / "nagios" / "checkresults"

    @property
    def lines(self) -> Path:
        """The file of the channel that writes lines."""
        return self.settings.home.resolve() / "deliveries.jsonl"

    @property
    def rabbitmq(self) -> str:
        """The address of this machine's RabbitMQ, which lets its guest in from here only."""
        return f"amqp://guest:guest@127.0.0.1:{self.settings.port_rabbitmq}/"

    def told(self, taken_over: Collection[str]) -> dict[str, str]:
        """Return what the inbox itself must be told of the channels in use."""
        own = {
            "push": {
                "INBOX_APNS_PORT": str(self.settings.port_inbox_apns),
                "INBOX_APNS_FOLDER": str(self.apple),
            },
            "nagios": {"INBOX_NAGIOS_SPOOL": str(self.spool)},
            "rabbitmq": {"INBOX_RABBITMQ_URL": self.rabbitmq, "INBOX_RABBITMQ_QUEUE": DESK},
        }
        played = [name for name in self.settings.channels if name not in taken_over]
        return {PREFIX + key: value for name in played for key, value in own.get(name, {}).items()}


def _email(inbox: Inbox) -> Settings:
    return {"EMAIL_HOST": "127.0.0.1", "EMAIL_PORT": str(inbox.settings.port_inbox_smtp)}


def _sms(inbox: Inbox) -> Settings:
    return {
        "SMS_API_URL": inbox.web,
        "SMS_ACCOUNT_SID": _TWILIO_ACCOUNT,
        "SMS_AUTH_TOKEN": _TOKEN,
        "SMS_SENDER": "+15005550006",
    }


def _push(inbox: Inbox) -> Settings:
    return {
        "PUSH_URL": f"https://127.0.0.1:{inbox.settings.port_inbox_apns}",
        "PUSH_KEY_FILE": str(inbox.apple / "signing-key.p8"),
        "PUSH_CA_FILE": str(inbox.apple / "certificate.pem"),
        "PUSH_KEY_ID": "TRYOUT0001",
        "PUSH_TEAM_ID": "TRYOUT0001",
        "PUSH_TOPIC": "org.example.aldebaran",
        "PUSH_DEVICES": json.dumps({DESK: {"token": PHONE_TOKEN}}),
    }


def _slack(inbox: Inbox) -> Settings:
    return {
        "SLACK_URL": f"{inbox.web}/slack",
        "SLACK_BOT_TOKEN": "xoxb-inbox-token",
        "SLACK_CHANNELS": json.dumps({DESK: _SLACK_CONVERSATION}),
    }


def _pagerduty(inbox: Inbox) -> Settings:
    return {
        "PAGERDUTY_URL": f"{inbox.web}/pagerduty",
        "PAGERDUTY_ROUTING_KEYS": json.dumps({DESK: _PAGERDUTY_KEY}),
    }


def _nrdp(inbox: Inbox) -> Settings:
    return {"NRDP_URL": f"{inbox.web}/nrdp/", "NRDP_TOKEN": _TOKEN}


def _rabbitmq(inbox: Inbox) -> Settings:
    return {"RABBITMQ_URL": inbox.rabbitmq}


def _nagios(inbox: Inbox) -> Settings:
    return {"NAGIOS_SPOOL": str(inbox.spool)}


def _log(inbox: Inbox) -> Settings:
    return {"LOG_CHANNEL_FILE": str(inbox.lines)}


_PLACES: Final[Mapping[str, Callable[[Inbox], Settings]]] = {
    "email": _email,
    "log": _log,
    "nagios": _nagios,
    "nrdp": _nrdp,
    "pagerduty": _pagerduty,
    "push": _push,
    "rabbitmq": _rabbitmq,
    "slack": _slack,
    "sms": _sms,
}


def far_ends(inbox: Inbox, named: Collection[str]) -> dict[str, str]:
    """Return the settings of each channel in use that the user has not taken over."""
    taken_over = taken_over_by(inbox, named)
    return {
        PREFIX + key: value
        for channel in inbox.settings.channels
        if channel in _PLACES and channel not in taken_over
        for key, value in _PLACES[channel](inbox).items()
    }


def taken_over_by(inbox: Inbox, named: Collection[str]) -> frozenset[str]:
    """Return the channels of which the user names a setting: then the user names all of them."""
    return frozenset(
        channel
        for channel, place in _PLACES.items()
        if any(PREFIX + key in named for key in place(inbox))
    )


def named_settings(inherited: Mapping[str, str]) -> frozenset[str]:
    """Return the settings that the user names: in the environment, the file, a folder of secrets.

    Raises MachineProblem where the file or the folder cannot be read.
    """
    found = {name for name in inherited if name.startswith(PREFIX)}
    try:
        found |= {PREFIX + name.upper() for name in settings_file(inherited)}
        found |= {name.upper() for name in secret_files(inherited)}
    except Refused as error:
        raise MachineProblem(str(error)) from None
    return frozenset(found)
