"""A session takes every loss of its connection for one, and no other error."""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn, Self

import aio_pika
import pytest
from aio_pika.exceptions import ChannelInvalidStateError
from prometheus_client import REGISTRY
from structlog.testing import capture_logs

from services.backbone.clock import ManualClock
from services.backbone.service import Life
from services.gateway.amqp.session import STEADY_SECONDS, Session
from services.gateway.amqp.settings import AmqpSettings


def session_that_meets(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> Session:
    life = Life(clock=ManualClock())

    async def connect(*_: object, **__: object) -> NoReturn:
        life.stop.set()
        raise error

    monkeypatch.setattr(aio_pika, "connect", connect)
    return Session(AmqpSettings(), [], life, random.Random(1))


def flowing() -> float | None:
    return REGISTRY.get_sample_value("aldebaran_amqp_flowing")


async def test_a_channel_that_closed_between_two_declarations_is_a_loss(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = session_that_meets(ChannelInvalidStateError("closed"), monkeypatch)
    await session.run()
    assert session.complaint() == "RabbitMQ: ChannelInvalidStateError closed"
    assert flowing() == 0


async def test_what_the_client_calls_off_as_no_heartbeat_comes_is_a_loss(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = session_that_meets(asyncio.CancelledError(), monkeypatch)
    await session.run()
    assert session.complaint() == "RabbitMQ: the connection fell silent"


async def test_another_error_of_the_program_stays_a_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RuntimeError, match="ours"):
        await session_that_meets(RuntimeError("ours"), monkeypatch).run()


class Flying(ManualClock):
    """A second is over at each look."""

    def monotonic_seconds(self) -> float:
        self.move(1.0)
        return super().monotonic_seconds()


@dataclass
class Held:
    """A connection, and its channel, that ends so long after it began to consume."""

    clock: ManualClock
    seconds: float
    close_callbacks: set[Callable[[], None]] = field(default_factory=set)
    on_consumer_cancel_callbacks: set[Callable[[object], None]] = field(default_factory=set)

    async def channel(self, **_: object) -> Self:
        return self

    async def get_underlay_channel(self) -> Self:
        return self

    async def set_qos(self, **_: object) -> None:
        for each in self.close_callbacks:
            each()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.clock.move(self.seconds)


async def test_only_a_connection_that_held_lets_the_back_off_begin_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    life = Life(clock=(clock := Flying()))
    left = [0.0, 0.0, STEADY_SECONDS, 0.0]

    async def connect(*_: object, **__: object) -> Held:
        if not left:
            life.stop.set()
            raise ConnectionError("none left")
        return Held(clock, left.pop(0))

    monkeypatch.setattr(aio_pika, "connect", connect)
    with capture_logs() as lines:
        await Session(AmqpSettings(), [], life, random.Random(1)).run()
    attempts = [each["attempt"] for each in lines if each["event"] == "connection_lost"]
    assert attempts == [1, 2, 1, 2, 3]


async def test_the_metric_says_whether_events_flow(monkeypatch: pytest.MonkeyPatch) -> None:
    life, told = Life(clock=ManualClock()), list[float | None]()

    class Told(Held):
        async def __aexit__(self, *_: object) -> None:
            told.append(flowing())

    async def connect(*_: object, **__: object) -> Held:
        told.append(flowing())
        life.stop.set()
        return Told(ManualClock(), 0.0)

    monkeypatch.setattr(aio_pika, "connect", connect)
    await Session(AmqpSettings(), [], life, random.Random(1)).run()
    assert told == [0, 1]
