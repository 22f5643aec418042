"""What the far end of a channel is to the matrix: it counts exactly, and misbehaves when told."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Protocol

from services.contracts.records import Delivery
from services.deliverer.channel import REPEAT_MARK
from tests.broker import OwnBroker
from tests.integration.deliverer.ledgers import Ledger
from tests.integration.rabbitmq import RabbitMq
from tests.passage import Passage

MARK = REPEAT_MARK.strip()


class Refusal(Enum):
    """What a provider may say instead of taking a message."""

    FOR_NOW = "come again later"
    IN_TROUBLE = "an error of its own"
    FOR_GOOD = "never"


class Lack(Enum):
    """What a far end may not have, so that a fault cannot be played on it."""

    HALF_WAY = "a request that can be cut in two"
    ANSWER = "an answer that can be lost"


Lacks = Mapping[Lack | Refusal, str]
"""Why a far end cannot be brought to something; each dash of the report stands for one of these."""

Refusals = Mapping[Refusal, Mapping[str, object]]
"""The dials by which a provider words each refusal that it can be made to say."""


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
    lacks: Lacks
    silent_after_first: bool
    """Whether, told not to answer, it takes one message and then no other."""

    @property
    def refusals(self) -> Refusals:
        """What it can be made to say instead of taking a message."""

    @property
    def passage(self) -> Passage | None:
        """The way that all connections to it take; None where there are no connections."""

    def taken(self, sent: list[Delivery]) -> Taken:
        """Return what it has of these."""

    def dial(self, **faults: object) -> bool:
        """Misbehave so from now on; False if this provider cannot be made to."""


@dataclass(frozen=True)
class Surroundings:
    """What a peer may need."""

    folder: Path
    broker: Callable[[], OwnBroker]
    """Starts the one that all cells share; it tells its clients of no port but a passage's."""
    rabbitmq: Callable[[], RabbitMq]
    """Starts the one that all cells share, or skips where none is installed."""


@dataclass(frozen=True)
class CellSurroundings(Surroundings):
    """What some far ends need of the cell's own stores."""

    own_kafka: str
    """The servers that carry the cell's deliveries."""
    ledger: Ledger


OpenPeer = Callable[[Surroundings], AbstractContextManager[Peer]]


def marks_of(bodies: list[str]) -> tuple[bool, ...]:
    return tuple(MARK in body for body in bodies)
