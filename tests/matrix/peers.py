"""The far end of each channel, as the matrix needs it: counts exactly, misbehaves when told."""

import json
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Final, Protocol
from urllib.parse import unquote_plus

import pytest

from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.consumer import Consumer
from services.backbone.settings import KafkaSettings
from services.contracts.records import Delivery
from services.contracts.topics import Topic
from services.contracts.twilio import body_code
from services.deliverer.channel import REPEAT_MARK
from services.deliverer.channels.nagios.wording import mark
from services.machine.ports import free_ports
from services.simulator.inbox.mail import mail_server
from services.simulator.inbox.providers.nrdp import TOKEN as NRDP_TOKEN
from services.simulator.inbox.providers.slack import TOKEN as SLACK_TOKEN
from services.simulator.inbox.received import Arrival
from tests.integration.deliverer.inboxes import Inbox, playing
from tests.integration.deliverer.queues import Passage, Queue
from tests.integration.nagios import NAGIOS, Nagios
from tests.integration.rabbitmq import RabbitMq

MARK = REPEAT_MARK.strip()


class Refusal(Enum):
    """What a provider may say instead of taking a message."""

    FOR_NOW = "come again later"
    IN_TROUBLE = "an error of its own"
    FOR_GOOD = "never"


Refusals = Mapping[Refusal, Mapping[str, object]]
"""The dials by which a provider words each refusal that it can be made to say."""
OVER_HTTP: Final[Refusals] = {
    Refusal.FOR_NOW: {"refuse_status": 429},
    Refusal.IN_TROUBLE: {"refuse_status": 500},
    Refusal.FOR_GOOD: {"refuse_status": 400},
}
BY_SMTP: Final[Refusals] = {
    Refusal.FOR_NOW: {"refuse_status": 450},
    Refusal.IN_TROUBLE: {"refuse_status": 421},
    Refusal.FOR_GOOD: {"refuse_status": 550},
}
"""An SMTP server says its own trouble by 4xx; 5xx is for good."""


@dataclass(frozen=True)
class Taken:
    """What the provider has: per delivery id, for each message in sequence whether it is marked."""

    marks: Mapping[str, tuple[bool, ...]]

    def of(self, delivery_id: str) -> tuple[bool, ...]:
        """Return the marks of one delivery's messages."""
        return self.marks.get(delivery_id, ())


class Peer(Protocol):
    """One channel's provider."""

    channel: str
    recipient: str
    settings: Mapping[str, str]
    refusals: Refusals
    silent_after_first: bool
    """Whether, told not to answer, it takes one message and then no other."""

    def taken(self, sent: list[Delivery]) -> Taken:
        """Return what it has of these."""

    def dial(self, **faults: object) -> bool:
        """Misbehave so from now on; False if this provider cannot be made to."""


@dataclass(frozen=True)
class Surroundings:
    """What a peer may need."""

    folder: Path
    kafka_bootstrap: str
    rabbitmq: Callable[[], RabbitMq]
    """Starts the one that all cells share, or skips where none is installed."""


OpenPeer = Callable[[Surroundings], AbstractContextManager[Peer]]


@dataclass
class Played:
    """A provider that the inbox plays."""

    channel: str
    recipient: str
    settings: Mapping[str, str]
    inbox: Inbox
    way: str
    name: Callable[[Delivery], str] = lambda each: each.delivery_id
    refusals: Refusals = field(default_factory=lambda: OVER_HTTP)
    silent_after_first: bool = False

    def taken(self, sent: list[Delivery]) -> Taken:
        """Read the inbox's journal."""
        bodies: dict[str, list[str]] = defaultdict(list)
        for arrival in self.inbox.arrivals(self.way):
            if arrival.verdict != "refused":
                bodies[arrival.delivery_id].append(self.text(arrival))
        return Taken({each.delivery_id: _marks(bodies[self.name(each)]) for each in sent})

    def text(self, arrival: Arrival) -> str:
        """Return the text in which the mark would stand."""
        return unquote_plus(arrival.body)

    def dial(self, **faults: object) -> bool:
        """Turn the dials of its way in."""
        self.inbox.dial(self.way, **faults)
        return True


@dataclass
class Mailed(Played):
    """The inbox's mail server; messages are files."""

    maildir: Path = field(default_factory=Path)

    def text(self, arrival: Arrival) -> str:
        """Read the mail."""
        return (self.maildir / "new" / arrival.place).read_text()


def _marks(bodies: list[str]) -> tuple[bool, ...]:
    return tuple(MARK in body for body in bodies)


@contextmanager
def webhook(around: Surroundings) -> Iterator[Peer]:
    """Any webhook receiver."""
    with playing(around.folder) as inbox:
        yield Played("webhook", f"{inbox.url}/hook", {}, inbox, "hook")


@contextmanager
def email(around: Surroundings) -> Iterator[Peer]:
    """A mail relay."""
    port = free_ports(1)[0]
    with playing(around.folder) as inbox:
        server = mail_server(inbox.board, around.folder / "mail", "127.0.0.1", port)
        server.start()
        settings = {"ALDEBARAN_EMAIL_PORT": str(port)}
        try:
            yield Mailed(
                "email",
                "desk@example.com",
                settings,
                inbox,
                "mail",
                refusals=BY_SMTP,
                maildir=around.folder / "mail",
            )
        finally:
            server.stop()


@contextmanager
def pagerduty(around: Surroundings) -> Iterator[Peer]:
    """PagerDuty's events."""
    with playing(around.folder) as inbox:
        settings = {
            "ALDEBARAN_PAGERDUTY_ROUTING_KEYS": json.dumps({"on-call": "0123456789abcdef" * 2}),
            "ALDEBARAN_PAGERDUTY_URL": f"{inbox.url}/pagerduty",
        }
        yield Played("pagerduty", "on-call", settings, inbox, "pagerduty")


@contextmanager
def sms(around: Surroundings) -> Iterator[Peer]:
    """Twilio without a way to call back: its list is the evidence."""
    with playing(around.folder) as inbox:
        settings = {
            "ALDEBARAN_SMS_ACCOUNT_SID": "AC" + "0" * 31 + "1",
            "ALDEBARAN_SMS_AUTH_TOKEN": "inbox-token",
            "ALDEBARAN_SMS_SENDER": "+15005550006",
            "ALDEBARAN_SMS_API_URL": inbox.url,
            "ALDEBARAN_SMS_LOOK_UP_AFTER_SECONDS": "[0.2, 0.5, 1, 2]",
        }
        name: Callable[[Delivery], str] = lambda each: body_code(each.delivery_id)[1:]  # noqa: E731 - passed on as a value
        yield Played("sms", "+41791234567", settings, inbox, "twilio", name)


@dataclass
class Bus:
    """A topic, read to its end."""

    channel: str
    recipient: str
    settings: Mapping[str, str]
    kafka: KafkaSettings
    refusals: Refusals = field(default_factory=dict)
    silent_after_first: bool = False

    def taken(self, sent: list[Delivery]) -> Taken:
        """Count records by key."""
        consumer = Consumer(self.kafka, "matrix", group=uuid.uuid4().hex, topics=[self.recipient])
        bodies: dict[str, list[str]] = defaultdict(list)
        try:
            quiet = 0
            while not consumer.assigned() or quiet < 5:
                batch = consumer.batch(500, 0.2)
                quiet = 0 if batch else quiet + 1
                for each in batch:
                    bodies[(each.key or b"").decode()].append(each.value.decode())
        finally:
            consumer.close()
        return Taken({each.delivery_id: _marks(bodies[each.delivery_id]) for each in sent})

    def dial(self, **_: object) -> bool:
        """A broker of ours has no dials."""
        return False


@contextmanager
def bus(around: Surroundings) -> Iterator[Peer]:
    """A topic of its own on the broker."""
    topic = f"matrix-{uuid.uuid4().hex}"
    kafka = KafkaSettings(kafka_bootstrap_servers=around.kafka_bootstrap)
    TopicAdmin(kafka, "matrix").declare([Topic(topic)])
    yield Bus("bus", topic, {}, kafka)


@dataclass
class LogFile:
    """The file of the log channel."""

    channel: str
    recipient: str
    settings: Mapping[str, str]
    file: Path
    refusals: Refusals = field(default_factory=dict)
    silent_after_first: bool = False

    def taken(self, sent: list[Delivery]) -> Taken:
        """Count lines by delivery id."""
        lines = self.file.read_text().splitlines() if self.file.exists() else []
        bodies: dict[str, list[str]] = defaultdict(list)
        for line in lines:
            bodies[json.loads(line)["delivery_id"]].append(line)
        return Taken({each.delivery_id: _marks(bodies[each.delivery_id]) for each in sent})

    def dial(self, **_: object) -> bool:
        """A file has no dials."""
        return False


@contextmanager
def log(around: Surroundings) -> Iterator[Peer]:
    """A file."""
    file = around.folder / "deliveries.jsonl"
    yield LogFile("log", "anybody", {"ALDEBARAN_LOG_CHANNEL_FILE": str(file)}, file)


@contextmanager
def nrdp(around: Surroundings) -> Iterator[Peer]:
    """NRDP in front of some Nagios."""
    with playing(around.folder) as inbox:
        settings = {
            "ALDEBARAN_NRDP_URL": f"{inbox.url}/nrdp/",
            "ALDEBARAN_NRDP_TOKEN": NRDP_TOKEN,
        }
        dials = {**OVER_HTTP, Refusal.FOR_GOOD: {"refuse_word": "BAD JSON"}}
        yield Played("nrdp", "aldebaran/over-purchase", settings, inbox, "nrdp", refusals=dials)


@contextmanager
def slack(around: Surroundings) -> Iterator[Peer]:
    """One room of Slack, with its history as evidence."""
    with playing(around.folder) as inbox:
        settings = {
            "ALDEBARAN_SLACK_URL": f"{inbox.url}/slack",
            "ALDEBARAN_SLACK_BOT_TOKEN": SLACK_TOKEN,
            "ALDEBARAN_SLACK_SECONDS_BETWEEN": "0",
            "ALDEBARAN_SLACK_LOOK_UP_AFTER_SECONDS": "[0.2, 0.5, 1, 2]",
        }
        dials = {**OVER_HTTP, Refusal.FOR_GOOD: {"refuse_error": "is_archived"}}
        yield Played("slack", "C0123456789", settings, inbox, "slack", refusals=dials)


@contextmanager
def push(around: Surroundings) -> Iterator[Peer]:
    """Apple's push service."""
    with playing(around.folder) as inbox:
        account = inbox.get("/apns")
        assert isinstance(account, dict)
        certificate = around.folder / "apple.pem"
        certificate.write_text(account["certificate"])
        settings = {
            "ALDEBARAN_PUSH_URL": account["url"],
            "ALDEBARAN_PUSH_CA_FILE": str(certificate),
            "ALDEBARAN_PUSH_KEY": account["key"],
            "ALDEBARAN_PUSH_KEY_ID": account["key_id"],
            "ALDEBARAN_PUSH_TEAM_ID": account["team_id"],
            "ALDEBARAN_PUSH_TOPIC": account["topic"],
        }
        yield Played("push", "ab" * 32, settings, inbox, "apns")


@dataclass
class RealNagios:
    """A Nagios that reads its spool and logs each alert of a volatile service."""

    channel: str
    recipient: str
    settings: Mapping[str, str]
    nagios: Nagios
    refusals: Refusals = field(default_factory=dict)
    silent_after_first: bool = False

    def taken(self, sent: list[Delivery]) -> Taken:
        """Count Nagios' own lines by delivery id."""
        return Taken({each.delivery_id: _marks(self._lines(each)) for each in sent})

    def _lines(self, each: Delivery) -> list[str]:
        return self.nagios.logged("SERVICE ALERT", mark(each.delivery_id))

    def dial(self, **_: object) -> bool:
        """Files have no answers that could be lost."""
        return False


@contextmanager
def nagios(around: Surroundings) -> Iterator[Peer]:
    """A real Nagios, where one is installed."""
    if not NAGIOS.exists():
        pytest.skip("no Nagios here: apt-get install nagios4-core")
    running = Nagios(around.folder / "nagios")
    settings = {
        "ALDEBARAN_NAGIOS_SPOOL": str(running.spool),
        "ALDEBARAN_NAGIOS_COMMAND_FILE": str(running.command_file),
        "ALDEBARAN_NAGIOS_LOG_FILE": str(running.log_file),
        "ALDEBARAN_NAGIOS_STATUS_FILE": str(running.status_file),
    }
    try:
        running.start()
        yield RealNagios("nagios", "aldebaran/over-purchase", settings, running)
    finally:
        running.kill()


@dataclass
class RabbitQueue:
    """A queue behind a passage that can swallow the broker's answers."""

    channel: str
    recipient: str
    settings: Mapping[str, str]
    queue: Queue
    passage: Passage
    refusals: Refusals = field(default_factory=dict)
    silent_after_first: bool = True

    def taken(self, sent: list[Delivery]) -> Taken:
        """Read the queue and leave it as it is."""
        bodies: dict[str, list[str]] = defaultdict(list)
        for message in self.queue.messages():
            bodies[message.message_id or ""].append(message.body.decode())
        return Taken({each.delivery_id: _marks(bodies[each.delivery_id]) for each in sent})

    def dial(self, **faults: object) -> bool:
        """Swallow the confirms of what is published, or hang up and pass everything on again."""
        if any(faults.values()):
            self.passage.armed = b"delivery-id"
        else:
            self.passage.hang_up()
        return True


@contextmanager
def rabbitmq(around: Surroundings) -> Iterator[Peer]:
    """A real RabbitMQ, where one is installed."""
    server = around.rabbitmq()
    queue = Queue(server.url, f"matrix-{uuid.uuid4().hex}").declared()
    with Passage(server.port).listening() as passage:
        settings = {"ALDEBARAN_RABBITMQ_URL": server.through(passage.port)}
        yield RabbitQueue("rabbitmq", queue.name, settings, queue, passage)


PEERS: dict[str, OpenPeer] = {
    "bus": bus,
    "email": email,
    "log": log,
    "nagios": nagios,
    "nrdp": nrdp,
    "pagerduty": pagerduty,
    "push": push,
    "rabbitmq": rabbitmq,
    "slack": slack,
    "sms": sms,
    "webhook": webhook,
}
"""By channel; one that is missing here fails the matrix."""
