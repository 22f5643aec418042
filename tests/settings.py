"""`python -m tests.settings`: writes docs/settings.md, and the list of all names that programs keep
beside them, from the settings classes.
"""

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from pydantic.fields import FieldInfo

from archivist.settings import ArchivistSettings
from auditor.settings import AuditorSettings
from engine.store import StoreSettings
from services.accountant.settings import AccountantSettings
from services.aldebaran.client import CommandSettings
from services.aldebaran.watches import CheckSettings
from services.backbone.kafka.producer import ProducerSettings
from services.backbone.settings import (
    PREFIX,
    ChannelsSettings,
    KafkaSettings,
    LedgerSettings,
    Settings,
    SparkKafkaSettings,
    StreamsSettings,
    WatchesSettings,
)
from services.backbone.spelling import KNOWN
from services.backbone.web.client import OperatorSettings
from services.backbone.web.links import LinkSettings
from services.callbacks.providers.twilio import TwilioSettings
from services.callbacks.settings import CallbacksSettings
from services.console.settings import ConsoleSettings
from services.deliverer.channels.bus import BusSettings
from services.deliverer.channels.email.settings import EmailSettings
from services.deliverer.channels.log import LogSettings
from services.deliverer.channels.nagios import NagiosSettings
from services.deliverer.channels.nrdp.settings import NrdpSettings
from services.deliverer.channels.pagerduty import PagerDutySettings
from services.deliverer.channels.push.settings import PushSettings
from services.deliverer.channels.rabbitmq.links import RabbitmqSettings
from services.deliverer.channels.slack.settings import SlackSettings
from services.deliverer.channels.sms.settings import SmsSettings
from services.deliverer.channels.webhook import WebhookSettings
from services.deliverer.settings import DelivererSettings
from services.gateway.amqp.settings import AmqpSettings
from services.gateway.settings import GatewaySettings
from services.heartbeat.settings import HeartbeatSettings
from services.lookout.commands.api_client import LookoutSettings as LookoutCommandSettings
from services.lookout.settings import LookoutSettings
from services.machine.settings import PORT_PREFIX, MachineSettings
from services.rehearsal.settings import RehearsalSettings
from services.simulator.inbox.providers.apns import ApnsSettings
from services.simulator.inbox.settings import InboxSettings
from services.simulator.settings import SimulatorSettings
from services.simulator.trial import TrialSettings
from services.topics.__main__ import TopicsSettings
from tests.metrics import ROOT, with_made
from tests.settings_in_words import default_in_words, type_in_words, variable

PAGE: Final = ROOT / "docs" / "settings.md"
OUTSIDE: Final = tuple(PREFIX + name for name in ("SETTINGS_FILE", "SECRETS_DIR", "MAVEN_MIRROR"))
"""Names that are read beside all classes; the page tells of them in its own words."""

Kind = type[Settings]


@dataclass(frozen=True)
class Section:
    """One table: settings of these classes, under this title."""

    title: str
    kinds: tuple[Kind, ...]
    started: str = ""
    """How the program is started, where it is one."""


SHARED: Final = (
    Section("Every program", (Settings,)),
    Section("Kafka", (KafkaSettings,)),
    Section("Writing to Kafka", (ProducerSettings,)),
    Section("Ledger", (LedgerSettings,)),
    Section("Channels in use", (ChannelsSettings,)),
    Section("Spark's Kafka clients", (SparkKafkaSettings,)),
    Section("Streams", (StreamsSettings,)),
    Section("Watches", (WatchesSettings,)),
    Section("Links in messages", (LinkSettings,)),
    Section("Operators' commands", (OperatorSettings,)),
    Section("S3", (StoreSettings,)),
)
"""What several programs have; none of these is a program."""

PROGRAMS: Final = (
    Section("Gateway", (GatewaySettings,), "services.gateway"),
    Section("Gateway from RabbitMQ", (AmqpSettings,), "services.gateway.amqp"),
    Section("Auditor", (AuditorSettings,), "auditor"),
    Section("Archivist", (ArchivistSettings,), "archivist"),
    Section("Lookout", (LookoutSettings, LookoutCommandSettings), "services.lookout"),
    Section("Deliverer", (DelivererSettings,), "services.deliverer"),
    Section("Channel bus", (BusSettings,)),
    Section("Channel email", (EmailSettings,)),
    Section("Channel log", (LogSettings,)),
    Section("Channel nagios", (NagiosSettings,)),
    Section("Channel nrdp", (NrdpSettings,)),
    Section("Channel pagerduty", (PagerDutySettings,)),
    Section("Channel push", (PushSettings,)),
    Section("Channel rabbitmq", (RabbitmqSettings,)),
    Section("Channel slack", (SlackSettings,)),
    Section("Channel sms", (SmsSettings,)),
    Section("Channel webhook", (WebhookSettings,)),
    Section("Callbacks", (CallbacksSettings, TwilioSettings), "services.callbacks"),
    Section("Accountant", (AccountantSettings,), "services.accountant"),
    Section("Heartbeat", (HeartbeatSettings,), "services.heartbeat"),
    Section("Console", (ConsoleSettings,), "services.console"),
    Section("Rehearsal", (RehearsalSettings,), "services.rehearsal"),
    Section("Command line", (CommandSettings, CheckSettings), "services.aldebaran"),
    Section("Topics", (TopicsSettings,), "services.topics"),
    Section("Simulator", (SimulatorSettings, TrialSettings), "services.simulator"),
    Section("Inbox", (InboxSettings, ApnsSettings), "services.simulator.inbox"),
    Section("One machine", (MachineSettings,), "services.machine run"),
)

_COMMON: Final = {kind: section for section in SHARED for kind in section.kinds}


def every_kind() -> set[type]:
    """Return each class whose settings are on the page, and those that it is made of."""
    kinds = (kind for section in (*SHARED, *PROGRAMS) for kind in section.kinds)
    return {parent for kind in kinds for parent in kind.__mro__}


def known_names() -> list[str]:
    """Return every name under ALDEBARAN_ that something reads, sorted."""
    kinds = (kind for section in (*SHARED, *PROGRAMS) for kind in section.kinds)
    return sorted({variable(name) for kind in kinds for name in kind.model_fields} | {*OUTSIDE})


def tables() -> str:
    """Return all sections: what several programs have, then program by program."""
    return "\n".join(part for each in (*SHARED, *PROGRAMS) for part in _section(each))


def _section(section: Section) -> Iterator[str]:
    yield f"## {section.title}\n"
    if section.started:
        where = "" if section.started.startswith("services.") else "PYTHONPATH=.:spark-apps "
        yield f"`{where}python -m {section.started}`\n"
    rows = list(_rows(section))
    if rows:
        yield "| setting | type | default | |\n|---|---|---|---|\n" + "\n".join(rows) + "\n"
    if also := _also(section):
        links = ", ".join(f"[{each.title}](#{_anchor(each.title)})" for each in also)
        yield f"Also: {links}.\n"


def _rows(section: Section) -> Iterator[str]:
    told: set[str] = set()
    for kind in section.kinds:
        for name, field in kind.model_fields.items():
            owner = definer(kind, name)
            if name not in told and _belongs(section, kind, owner):
                told.add(name)
                yield _row(name, field, description(owner, name))


def _belongs(section: Section, kind: Kind, owner: type) -> bool:
    """Tell whether a setting stands in a section, or in that of its owner."""
    return owner is kind if section in SHARED else owner not in _COMMON


def _row(name: str, field: FieldInfo, told: str) -> str:
    cells = (f"`{variable(name)}`", type_in_words(field), default_in_words(field), told)
    return "| " + " | ".join(each.replace("|", r"\|") for each in cells) + " |"


def _also(section: Section) -> list[Section]:
    """Return the sections of shared settings that this one has too."""
    parents = {parent for kind in section.kinds for parent in kind.__mro__}
    return [each for each in SHARED if each != section and parents & {*each.kinds}]


def _anchor(title: str) -> str:
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def definer(kind: type, name: str) -> type:
    """Return the class that says last what a setting is."""
    return next(each for each in kind.__mro__ if name in inspect.get_annotations(each))


def description(owner: type, name: str) -> str:
    """Return what stands below a setting in its class, as one line without a last full stop."""
    written = described(inspect.getsource(owner)).get(name, "")
    if not written and name.startswith(PORT_PREFIX):
        written = f"The port of {name.removeprefix(PORT_PREFIX).replace('_', ' ')}."
    return " ".join(written.split()).removesuffix(".")


def described(source: str) -> dict[str, str]:
    """Return the text below each setting of a class that has one."""
    (made,) = ast.parse(textwrap.dedent(source)).body
    body = made.body if isinstance(made, ast.ClassDef) else []
    return {
        field.target.id: text.value.value
        for field, text in pairwise(body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }


def page() -> str:
    """Return the page as it should be."""
    return with_made(PAGE.read_text("utf-8"), tables())


def listed() -> str:
    """Return the list of names as it should be."""
    return "".join(f"{name}\n" for name in known_names())


def main() -> int:
    """Write the page and the list."""
    PAGE.write_text(page(), "utf-8")
    KNOWN.write_text(listed(), "ascii")
    return 0


if __name__ == "__main__":
    sys.exit(main())
