"""A history of orders as a pure function of its shape: what is sent, in which order, how bent.

Bytes are put together by hand, since at full speed a JSON library would cost more than Kafka.
"""

import random
from collections.abc import Iterator
from enum import IntEnum
from itertools import count
from typing import Final, NamedTuple

from services.simulator.dials import Shape
from services.simulator.disorder import Shuffle

STOCKS: Final = ("ACME", "BOLT", "CORE", "DELTA", "ECHO", "FLUX", "GRID", "HELIX")
CLIENTS: Final = tuple(f"client-{number:02d}" for number in range(50))


class Kind(IntEnum):
    """What a message is, as the tally counts it."""

    REQUEST = 0
    PURCHASE = 1
    DUPLICATE = 2
    MALFORMED = 3


class Message(NamedTuple):
    """One message to send.

    `key` is the order id; `shares` is what a request asks for or a purchase buys; `parts` is how
    many different valid events its order has, 0 for a malformed message.
    """

    kind: Kind
    key: str
    value: bytes
    shares: int
    parts: int


MALFORMED: Final = (
    b'{"kind":"purchase","event_id":"%s","order_id":"%s","shares":',
    b"this is not JSON %s %s",
    b'["%s","%s"]',
    b'{"kind":"request","event_id":"%s","order_id":"%s","client":"c","stock":"ACME"}',
    b'{"kind":"gift","event_id":"%s","order_id":"%s","shares":5,"client":"c","stock":"ACME"}',
    b'{"kind":"purchase","event_id":"%s","order_id":"%s","shares":0,"client":"c","stock":"ACME"}',
    b'{"kind":"purchase","event_id":"%s","order_id":"%s","shares":-3,"client":"c","stock":"ACME"}',
    b'{"kind":"request","event_id":"%s","order_id":"%s","shares":"x","client":"c","stock":"ACME"}',
    b'{"kind":"request","event_id":"%s","order_id":"%s","shares":1,"client":"c","stock":null}',
)
"""Malformed messages of each sort; none may reach anybody's book."""


def history(shape: Shape, run_id: str, orders: int | None = None) -> Iterator[Message]:
    """Return the messages of a run in sending order; endless unless `orders` bounds it.

    The same shape and run id always give the same messages.
    """
    rng = random.Random(shape.seed)
    numbers = count() if orders is None else range(orders)
    planned = (message for number in numbers for message in _order(shape, run_id, number, rng))
    return _bent(planned, shape, run_id, rng)


def amounts(shape: Shape, rng: random.Random) -> tuple[int, list[int]]:
    """Draw what one order requests and what each of its purchases buys.

    An over-purchased one is over by 1 to 10 shares; of the others half are equal, half under.
    """
    pieces = max(1, shape.purchases_per_request)
    unit = 11 + int(rng.random() * 90)
    bought = [unit] * shape.purchases_per_request
    for index in range(1, len(bought)):
        moved = int(rng.random() * unit)
        bought[index - 1] -= moved
        bought[index] += moved
    requested = unit * pieces
    if rng.random() < shape.over_share:
        return requested - int(rng.random() * 10) - 1, bought
    return requested + int(rng.random() * 10) * int(rng.random() * 2), bought


def _order(shape: Shape, run_id: str, number: int, rng: random.Random) -> Iterator[Message]:
    requested, bought = amounts(shape, rng)
    order_id = f"{run_id}-{number}"
    parts = 1 + len(bought)
    middle = f'","order_id":"{order_id}","shares":'
    stock = STOCKS[int(rng.random() * len(STOCKS))]
    client = CLIENTS[int(rng.random() * len(CLIENTS))]
    end = f',"client":"{client}","stock":"{stock}"}}'
    value = f'{{"kind":"request","event_id":"{order_id}{middle}{requested}{end}'.encode()
    yield Message(Kind.REQUEST, order_id, value, requested, parts)
    for index, shares in enumerate(bought, 1):
        event_id = f"{order_id}-p{index}"
        value = f'{{"kind":"purchase","event_id":"{event_id}{middle}{shares}{end}'.encode()
        yield Message(Kind.PURCHASE, order_id, value, shares, parts)


def _bent(
    planned: Iterator[Message], shape: Shape, run_id: str, rng: random.Random
) -> Iterator[Message]:
    """Displace, repeat and mix in, each with its share; a repeat follows its original."""
    if not (shape.disorder or shape.duplicates or shape.malformed):
        yield from planned
        return
    shuffle: Shuffle[Message] = Shuffle()
    for position, message in enumerate(planned):
        if rng.random() < shape.malformed:
            yield malformed(run_id, position, rng)
        late = shuffle.distance(rng) if rng.random() < shape.disorder else 0
        if late:
            shuffle.hold(message, late)
        else:
            yield message
        if message.kind is Kind.PURCHASE and rng.random() < shape.duplicates:
            shuffle.hold(message._replace(kind=Kind.DUPLICATE), late + shuffle.distance(rng))
        yield from shuffle.due()
    yield from shuffle.rest()


def malformed(run_id: str, position: int, rng: random.Random) -> Message:
    """Return a message that no reader may take."""
    key = f"{run_id}-bad-{position}"
    template = MALFORMED[int(rng.random() * len(MALFORMED))]
    value = template % (key.encode(), key.encode())
    return Message(Kind.MALFORMED, key, value, 0, 0)
