"""The bus channel's far ends: a topic on a cluster that is not ours, and one on ours."""

import uuid
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final

from services.backbone.kafka.admin import TopicAdmin
from services.backbone.settings import KafkaSettings
from services.contracts.records import Delivery
from services.contracts.topics import Topic
from tests.broker import OwnBroker
from tests.matrix.peer import (
    CellSurroundings,
    Lack,
    Lacks,
    Peer,
    Refusal,
    Refusals,
    Surroundings,
    Taken,
    marks_of,
)
from tests.matrix.stance import Stance, play
from tests.passage import Passage, behind
from tests.topic import WholeTopic, configure

ID: Final = b"delivery-id"
"""The name of the header that every message on a broker has."""
IN_ITS_HEADERS: Final = behind(ID)
_OF_KAFKA: Final[Lacks] = {
    Refusal.FOR_NOW: "Kafka asks nobody to wait: what a quota slows down it has taken",
    Refusal.IN_TROUBLE: "the client hides a broker's passing errors until its own deadline, and so"
    " they are answers too late",
}
_ONE_WAY: Final = (
    "deliveries come by the same broker: whatever holds its acknowledgements back holds them back"
    " too; the other cluster plays it"
)


@dataclass
class Bus:
    """A topic, read to its end."""

    channel: str
    recipient: str
    settings: Mapping[str, str]
    kafka: KafkaSettings
    stance: Stance
    lacks: Lacks
    passage: Passage | None = None
    silent_after_first: bool = True

    @property
    def refusals(self) -> Refusals:
        """What the topic can be made to say."""
        return self.stance.refusals

    def taken(self, sent: list[Delivery]) -> Taken:
        """Count records by key."""
        bodies: dict[str, list[str]] = defaultdict(list)
        with closing(WholeTopic(self.kafka, self.recipient)) as topic:
            for each in topic.read():
                bodies[(each.key or b"").decode()].append(each.value.decode())
        return Taken({one.delivery_id: marks_of(bodies[one.delivery_id]) for one in sent})

    def dial(self, **faults: object) -> bool:
        """Play with the acknowledgements of what is written; or let the topic refuse."""
        self.stance.turn(faults)
        if self.passage is not None:
            play(self.passage, faults, ID)
        return self.passage is not None


def way_to(broker: OwnBroker) -> Passage:
    """Return the way to a broker that tells its clients of no other."""
    told_port = int(broker.node.bootstrap.rpartition(":")[2])
    return Passage(broker.node.port, told_port, half_way=IN_ITS_HEADERS)


@contextmanager
def foreign(around: Surroundings) -> Iterator[Peer]:
    """A topic of its own on a cluster that is not Aldebaran's."""
    broker = around.broker()
    with way_to(broker).listening() as passage:
        settings = {"ALDEBARAN_BUS_BOOTSTRAP_SERVERS": broker.node.bootstrap}
        with topic_at(broker.node.bootstrap, settings, {}, passage) as peer:
            yield peer


@contextmanager
def ours(around: CellSurroundings) -> Iterator[Peer]:
    """A topic of its own on the cluster that carries the deliveries."""
    lacks: Lacks = {Lack.HALF_WAY: _ONE_WAY, Lack.ANSWER: _ONE_WAY}
    with topic_at(around.own_kafka, {}, lacks, None) as peer:
        yield peer


@contextmanager
def topic_at(
    bootstrap: str, settings: Mapping[str, str], lacks: Lacks, passage: Passage | None
) -> Iterator[Peer]:
    """A new topic, which its owner can make too narrow for any message."""
    name = f"matrix-{uuid.uuid4().hex}"
    kafka = KafkaSettings(kafka_bootstrap_servers=bootstrap)
    TopicAdmin(kafka, "matrix").declare([Topic(name)])
    narrow = partial(configured, bootstrap, name, "max.message.bytes", "1")
    stance = Stance({Refusal.FOR_GOOD: narrow})
    yield Bus("bus", name, settings, kafka, stance, {**_OF_KAFKA, **lacks}, passage)


@contextmanager
def configured(bootstrap: str, topic: str, name: str, value: str) -> Iterator[None]:
    """Have a topic configured so while the block lasts."""
    configure(bootstrap, topic, name, value)
    yield
    configure(bootstrap, topic, name, None)
