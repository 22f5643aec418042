"""The far end of each channel that is measured: whom to tell, and how to reach the provider."""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from services.contracts.topics import NOTIFICATIONS
from services.machine.ports import free_ports
from services.machine.problems import MachineProblem
from services.machine.servers import rabbitmq
from services.machine.supervision.programs import Program
from services.simulator.inbox.apns.account import kept
from tests.bench.delivering.receivers import Site
from tests.bench.delivering.receivers.readers import QUEUE
from tests.bench.engine import Unavailable

_NAME: Final = "desk"


@dataclass(frozen=True)
class FarEnd:
    """A recipient, the settings of the channel's deliverer, and servers that must run before."""

    recipient: str
    settings: Mapping[str, str] = field(default_factory=dict)
    servers: tuple[Program, ...] = ()


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


def _push(site: Site) -> FarEnd:
    account = kept(site.folder, time.time_ns() // 1_000_000)
    settings = {
        "ALDEBARAN_PUSH_URL": f"https://127.0.0.1:{site.port}",
        "ALDEBARAN_PUSH_CA_FILE": str(site.folder / "certificate.pem"),
        "ALDEBARAN_PUSH_KEY": account.signing_key,
        "ALDEBARAN_PUSH_KEY_ID": account.key_id,
        "ALDEBARAN_PUSH_TEAM_ID": account.team_id,
        "ALDEBARAN_PUSH_TOPIC": account.topic,
    }
    return FarEnd("ab" * 32, settings)


def _rabbitmq(site: Site) -> FarEnd:
    """A real RabbitMQ.

    Raises:
        Unavailable: none is installed.
    """
    try:
        server = rabbitmq.find_server()
    except MachineProblem:
        raise Unavailable(
            "RabbitMQ was not found (Debian: apt-get install rabbitmq-server)"
        ) from None
    nodes_port, names_port = free_ports(2)
    node = rabbitmq.RabbitmqNode(site.folder, site.port, nodes_port, names_port)
    settings = {"ALDEBARAN_RABBITMQ_URL": site.rabbitmq}
    return FarEnd(QUEUE, settings, rabbitmq.programs(node, server))


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
    "rabbitmq": _rabbitmq,
    "sms": _sms,
    "email": _email,
    "push": _push,
    "pagerduty": _pagerduty,
    "slack": _slack,
    "nrdp": _nrdp,
    "nagios": _nagios,
    "log": _log,
}
"""By channel, given where it is; raises Unavailable where the machine lacks something."""
