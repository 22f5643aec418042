"""A session takes every loss of its connection for one, and no other error."""

import asyncio
import random
from typing import NoReturn

import aio_pika
import pytest
from aio_pika.exceptions import ChannelInvalidStateError

from services.backbone.clock import ManualClock
from services.backbone.service import Life
from services.gateway.amqp.session import Session
from services.gateway.amqp.settings import AmqpSettings


def session_that_meets(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> Session:
    life = Life(clock=ManualClock())

    async def connect(*_: object, **__: object) -> NoReturn:
        life.stop.set()
        raise error

    monkeypatch.setattr(aio_pika, "connect", connect)
    return Session(AmqpSettings(), [], life, random.Random(1))


async def test_a_channel_that_closed_between_two_declarations_is_a_loss(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = session_that_meets(ChannelInvalidStateError("closed"), monkeypatch)
    await session.run()
    assert session.complaint() == "RabbitMQ: ChannelInvalidStateError closed"


async def test_what_the_client_calls_off_as_no_heartbeat_comes_is_a_loss(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = session_that_meets(asyncio.CancelledError(), monkeypatch)
    await session.run()
    assert session.complaint() == "RabbitMQ: the connection fell silent"


async def test_another_error_of_the_program_stays_a_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RuntimeError, match="ours"):
        await session_that_meets(RuntimeError("ours"), monkeypatch).run()
