"""Routes for the channels in use, where they are not those of the shipped routes."""

from collections.abc import Sequence
from pathlib import Path
from string import Template
from typing import Any, Final

import yaml

from services.contracts import topics
from services.machine.plan.far_ends import DESK, Inbox
from services.machine.settings import MachineSettings

RECIPIENTS: Final = {
    "bus": topics.NOTIFICATIONS,
    "webhook": "${inbox_url}",
    "email": "${desk_email}",
    "sms": "+15005551000",
    "push": DESK,
    "slack": DESK,
    "pagerduty": DESK,
    "nrdp": "aldebaran/alerts",
    "nagios": "aldebaran/alerts",
    "rabbitmq": DESK,
    "log": DESK,
}
"""Who is told on each channel."""
SHIPPED: Final = tuple(MachineSettings.model_fields["channels"].default)
"""The channels of the routes that come with the lookout."""
_VARIABLES: Final = {
    "inbox_url": "http://127.0.0.1:18090/hook",
    "desk_email": "desk@aldebaran.local",
}
_HEAD: Final = """\
# Made by each start from ALDEBARAN_CHANNELS: what is critical is told on all of them.
# To change it, copy it, and name the copy by ALDEBARAN_ROUTES_FILE; docs/routing.md tells how.
"""


def routes_file(settings: MachineSettings) -> Path | None:
    """Return where the routes for these channels are; None where the shipped ones will do."""
    if set(settings.channels) == set(SHIPPED):
        return None
    return settings.home.resolve() / "routes.yaml"


def routes(channels: Sequence[str]) -> str:
    """Write routes that tell of what is critical on every channel, of all else on the first."""
    known = [name for name in channels if name in RECIPIENTS]
    send = [{"channel": name, "to": RECIPIENTS[name]} for name in known]
    critical = {"severity": {"at_least": "critical"}}
    content: dict[str, Any] = {
        "version": 1,
        "variables": _VARIABLES,
        "routes": [{"name": "critical", "match": critical, "send": send}],
        "default": {"send": send[:1]},
    }
    return _HEAD + yaml.safe_dump(content, sort_keys=False)


def told_of_findings(settings: MachineSettings) -> list[dict[str, str]]:
    """Return whom the accountant tells, on at most two channels, mail first."""
    variables = _VARIABLES | {"inbox_url": f"{Inbox(settings).web}/hook"}
    able = [name for name in settings.channels if name in RECIPIENTS]
    ranked = sorted(able, key=lambda name: (name != "email", name != "bus"))
    return [
        {"channel": name, "recipient": Template(RECIPIENTS[name]).substitute(variables)}
        for name in ranked[:2]
    ]


def prepare(settings: MachineSettings) -> None:
    """Write the routes, if these channels need their own."""
    if file := routes_file(settings):
        file.write_text(routes(settings.channels), "utf-8")
