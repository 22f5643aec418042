"""The far ends that are the real thing, and all far ends by channel."""

import json
import uuid
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

from services.backbone.kafka.admin import TopicAdmin
from services.backbone.settings import KafkaSettings
from services.contracts.records import Delivery
from services.contracts.topics import Topic
from services.deliverer.channels.nagios.wording import mark
from tests.broker import OwnBroker
from tests.integration import nagios as real_nagios
from tests.integration.deliverer.queues import Queue
from tests.integration.nagios import Nagios
from tests.matrix import played
from tests.matrix.peer import OpenPeer, Peer, Refusals, Surroundings, Taken, marks_of
from tests.passage import Passage, behind
from tests.topic import WholeTopic

ID: Final = b"delivery-id"
"""The name of the header that every message on a broker has."""
IN_ITS_HEADERS: Final = behind(ID)


def play(passage: Passage, faults: Mapping[str, object]) -> None:
    """Keep back what a broker says to a message, or say it late, or go on as before."""
    if any(faults.values()):
        passage.armed = ID
        late = faults.get("delay_seconds")
        passage.late_seconds = late if isinstance(late, int | float) else None
    elif passage.late_seconds is None:
        passage.hang_up()
    else:
        passage.armed = None


@dataclass
class Bus:
    """A topic behind a passage, read to its end."""

    channel: str
    recipient: str
    settings: Mapping[str, str]
    kafka: KafkaSettings
    passage: Passage
    refusals: Refusals = field(default_factory=dict)
    silent_after_first: bool = True

    def taken(self, sent: list[Delivery]) -> Taken:
        """Count records by key."""
        bodies: dict[str, list[str]] = defaultdict(list)
        with closing(WholeTopic(self.kafka, self.recipient)) as topic:
            for each in topic.read():
                bodies[(each.key or b"").decode()].append(each.value.decode())
        return Taken({one.delivery_id: marks_of(bodies[one.delivery_id]) for one in sent})

    def dial(self, **faults: object) -> bool:
        """Play with the acknowledgements of what is written."""
        play(self.passage, faults)
        return True


def way_to(broker: OwnBroker) -> Passage:
    """Return the way to a broker that tells its clients of no other."""
    told_port = int(broker.node.bootstrap.rpartition(":")[2])
    return Passage(broker.node.port, told_port, half_way=IN_ITS_HEADERS)


@contextmanager
def bus(around: Surroundings) -> Iterator[Peer]:
    """A topic of its own on a cluster that is not Aldebaran's."""
    broker, topic = around.broker(), f"matrix-{uuid.uuid4().hex}"
    with way_to(broker).listening() as passage:
        kafka = KafkaSettings(kafka_bootstrap_servers=broker.node.bootstrap)
        TopicAdmin(kafka, "matrix").declare([Topic(topic)])
        settings = {"ALDEBARAN_BUS_BOOTSTRAP_SERVERS": broker.node.bootstrap}
        yield Bus("bus", topic, settings, kafka, passage)


@dataclass
class LogFile:
    """The file of the log channel."""

    channel: str
    recipient: str
    settings: Mapping[str, str]
    file: Path
    refusals: Refusals = field(default_factory=dict)
    silent_after_first: bool = False
    passage: Passage | None = None

    def taken(self, sent: list[Delivery]) -> Taken:
        """Count lines by delivery id."""
        lines = self.file.read_text().splitlines() if self.file.exists() else []
        bodies: dict[str, list[str]] = defaultdict(list)
        for line in lines:
            bodies[json.loads(line)["delivery_id"]].append(line)
        return Taken({each.delivery_id: marks_of(bodies[each.delivery_id]) for each in sent})

    def dial(self, **_: object) -> bool:
        """A file has no dials."""
        return False


@contextmanager
def log(around: Surroundings) -> Iterator[Peer]:
    """A file."""
    file = around.folder / "deliveries.jsonl"
    yield LogFile("log", "anybody", {"ALDEBARAN_LOG_CHANNEL_FILE": str(file)}, file)


@dataclass
class RealNagios:
    """A Nagios that reads its spool and logs each alert of a volatile service."""

    channel: str
    recipient: str
    settings: Mapping[str, str]
    nagios: Nagios
    refusals: Refusals = field(default_factory=dict)
    silent_after_first: bool = False
    passage: Passage | None = None

    def taken(self, sent: list[Delivery]) -> Taken:
        """Count Nagios' own lines by delivery id."""
        return Taken({each.delivery_id: marks_of(self._lines(each)) for each in sent})

    def _lines(self, each: Delivery) -> list[str]:
        return self.nagios.logged("SERVICE ALERT", mark(each.delivery_id))

    def dial(self, **_: object) -> bool:
        """Files have no answers that could be lost."""
        return False


@contextmanager
def nagios(around: Surroundings) -> Iterator[Peer]:
    """A real Nagios, where one is installed."""
    if wrong := real_nagios.complaint():
        pytest.skip(wrong)
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
        return Taken({each.delivery_id: marks_of(bodies[each.delivery_id]) for each in sent})

    def dial(self, **faults: object) -> bool:
        """Play with the confirms of what is published."""
        play(self.passage, faults)
        return True


@contextmanager
def rabbitmq(around: Surroundings) -> Iterator[Peer]:
    """A real RabbitMQ, where one is installed."""
    server = around.rabbitmq()
    queue = Queue(server.url, f"matrix-{uuid.uuid4().hex}").declared()
    with Passage(server.port, half_way=IN_ITS_HEADERS).listening() as passage:
        settings = {"ALDEBARAN_RABBITMQ_URL": server.through(passage.port)}
        yield RabbitQueue("rabbitmq", queue.name, settings, queue, passage)


PEERS: dict[str, OpenPeer] = {
    "bus": bus,
    "email": played.email,
    "log": log,
    "nagios": nagios,
    "nrdp": played.nrdp,
    "pagerduty": played.pagerduty,
    "push": played.push,
    "rabbitmq": rabbitmq,
    "slack": played.slack,
    "sms": played.sms,
    "webhook": played.webhook,
}
"""By channel; one that is missing here fails the matrix."""
