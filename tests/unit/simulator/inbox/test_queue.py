"""The inbox's reader of RabbitMQ goes on after a full disk, and after any end of its consumer."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Self, cast

import aio_pika
import pytest

from services.backbone.clock import ManualClock
from services.simulator.inbox import queue
from services.simulator.inbox.queue import QueueReader
from services.simulator.inbox.received import Arrival
from services.simulator.inbox.switchboard import Switchboard

WAIT_SECONDS = 10
Take = Callable[[object], Awaitable[None]]
Callbacks = set[Callable[..., None]]


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "AGAIN_SECONDS", 0)


@dataclass
class Board:
    """A disk that is full for the first arrivals."""

    refusals: int = 0
    kept: list[str] = field(default_factory=list)
    clock: ManualClock = field(default_factory=ManualClock)

    def took(self, arrival: Arrival, _: str) -> None:
        if self.refusals:
            self.refusals -= 1
            raise OSError(28, "No space left on device")
        self.kept.append(arrival.delivery_id)


@dataclass
class Told:
    """A message, and what RabbitMQ is told of it."""

    answers: list[str] = field(default_factory=list)
    message_id: str = "m"
    body: bytes = b"{}"

    async def ack(self) -> None:
        self.answers.append("ack")

    async def nack(self, *, requeue: bool) -> None:
        self.answers.append(f"nack, requeue {requeue}")


@dataclass
class Broker:
    """A connection, its channel and its queue; `consumed` is what each new consumer meets."""

    consumed: Callable[[Self, Take], Awaitable[None]]
    consumers: int = 0
    over: threading.Event = field(default_factory=threading.Event)
    of_connection: Callbacks = field(default_factory=set)
    of_channel: Callbacks = field(default_factory=set)
    of_consumer: Callbacks = field(default_factory=set)

    @property
    def close_callbacks(self) -> Callbacks:
        return self.of_connection

    async def channel(self, **_: object) -> "Channel":
        return Channel(self)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None


@dataclass
class Channel:
    """The channel, what lies beneath it, and its queue."""

    broker: Broker

    @property
    def close_callbacks(self) -> Callbacks:
        return self.broker.of_channel

    @property
    def on_consumer_cancel_callbacks(self) -> Callbacks:
        return self.broker.of_consumer

    async def get_underlay_channel(self) -> Self:
        return self

    async def set_qos(self, *_: object, **__: object) -> None:
        return None

    async def declare_queue(self, *_: object, **__: object) -> Self:
        return self

    async def consume(self, take: Take) -> None:
        self.broker.consumers += 1
        await self.broker.consumed(self.broker, take)


def read_from(broker: Broker, board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a reader read until it is over."""

    async def connect(*_: object, **__: object) -> Broker:
        return broker

    monkeypatch.setattr(aio_pika, "connect", connect)
    reader = QueueReader("amqp://nowhere", "desk", cast(Switchboard, cast(Any, board)))
    reader.start()
    try:
        assert broker.over.wait(WAIT_SECONDS), "it stands still"
    finally:
        reader.stop()


def test_a_message_that_a_full_disk_refuses_goes_back_and_comes_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    board, message = Board(refusals=2), Told()

    async def deliver(broker: Broker, take: Take) -> None:
        while "ack" not in message.answers:
            await asyncio.create_task(cast(Any, take(message)))
        broker.over.set()

    read_from(Broker(deliver), board, monkeypatch)
    assert message.answers == ["nack, requeue True"] * 2 + ["ack"]
    assert board.kept == ["m"]


@pytest.mark.parametrize("ended", ["of_connection", "of_channel", "of_consumer"])
def test_whatever_ends_it_is_consumed_anew(ended: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def end(broker: Broker, _: Take) -> None:
        if broker.consumers > 1:
            broker.over.set()
        for each in getattr(broker, ended).copy():
            each(None)

    read_from(Broker(end), Board(), monkeypatch)


@pytest.mark.parametrize("error", [Exception(), StopAsyncIteration(), RuntimeError("closed")])
def test_it_reads_on_after_a_connection_that_ended_without_a_reason(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def end_once(broker: Broker, _: Take) -> None:
        if broker.consumers == 1:
            raise error
        broker.over.set()

    read_from(broker := Broker(end_once), Board(), monkeypatch)
    assert broker.consumers == 2
