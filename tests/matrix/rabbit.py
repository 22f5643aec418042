"""RabbitMQ's far end: a queue on a real node."""

import uuid
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

from services.contracts.records import Delivery
from tests.integration.deliverer.queues import Queue
from tests.integration.rabbitmq import RabbitMq
from tests.matrix.buses import ID, IN_ITS_HEADERS
from tests.matrix.peer import Lacks, Peer, Refusal, Refusals, Surroundings, Taken, marks_of
from tests.matrix.stance import Stance, play
from tests.passage import Passage


@dataclass
class RabbitQueue:
    """A queue behind a passage that can swallow the broker's answers."""

    channel: str
    recipient: str
    settings: Mapping[str, str]
    queue: Queue
    passage: Passage
    stance: Stance
    lacks: Lacks = field(default_factory=dict)
    silent_after_first: bool = True

    @property
    def refusals(self) -> Refusals:
        """What the node can be told to do."""
        return self.stance.refusals

    def taken(self, sent: list[Delivery]) -> Taken:
        """Read the queue and leave it as it is."""
        bodies: dict[str, list[str]] = defaultdict(list)
        for message in self.queue.messages():
            bodies[message.message_id or ""].append(message.body.decode())
        return Taken({each.delivery_id: marks_of(bodies[each.delivery_id]) for each in sent})

    def dial(self, **faults: object) -> bool:
        """Play with the confirms of what is published; or let the node refuse."""
        self.stance.turn(faults)
        play(self.passage, faults, ID)
        return True


@contextmanager
def rabbitmq(around: Surroundings) -> Iterator[Peer]:
    """A real RabbitMQ, where one is installed."""
    server = around.rabbitmq()
    queue = Queue(server.url, f"matrix-{uuid.uuid4().hex}").declared()
    stance = Stance(
        {
            Refusal.FOR_NOW: partial(full, server, queue),
            Refusal.IN_TROUBLE: partial(in_alarm, server),
            Refusal.FOR_GOOD: partial(not_allowed, server),
        }
    )
    with Passage(server.port, half_way=IN_ITS_HEADERS).listening() as passage:
        settings = {"ALDEBARAN_RABBITMQ_URL": server.through(passage.port)}
        try:
            yield RabbitQueue("rabbitmq", queue.name, settings, queue, passage, stance)
        finally:
            stance.end()


@contextmanager
def full(server: RabbitMq, queue: Queue) -> Iterator[None]:
    """Have a queue that is full at once and answers nack."""
    limits = '{"max-length": 0, "overflow": "reject-publish"}'
    server.told("set_policy", "full", f"^{queue.name}$", limits, "--apply-to", "queues")
    yield
    server.told("clear_policy", "full")


@contextmanager
def in_alarm(server: RabbitMq) -> Iterator[None]:
    """Have a node that is out of memory: it takes nothing from publishers, and says so late."""
    server.block_publishers(True)
    yield
    server.block_publishers(False)


@contextmanager
def not_allowed(server: RabbitMq) -> Iterator[None]:
    """Have a login that may write nowhere."""
    server.told("set_permissions", "guest", ".*", "^$", ".*")
    yield
    server.told("set_permissions", "guest", ".*", ".*", ".*")
