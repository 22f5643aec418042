"""A session takes every loss of its connection for one, and no other error."""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn, Self

import pytest
from aio_pika.exceptions import ChannelInvalidStateError
from prometheus_client import REGISTRY
from pydantic import SecretStr
from structlog.testing import capture_logs

from services.backbone.clock import ManualClock
from services.backbone.service import Life
from services.gateway.amqp import session
from services.gateway.amqp.session import STEADY_SECONDS, Session
from services.gateway.amqp.settings import AmqpSettings
from tests.amqp_server import AmqpServer
from tests.integration.rabbitmq import CERTIFICATE
from tests.unit.gateway.surroundings import MemoryWriter
from tests.unit.gateway.test_amqp_feed import feed

PATIENCE_SECONDS = 60.0


def session_that_meets(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> Session:
    life = Life(clock=ManualClock())

    async def connect(*_: object, **__: object) -> NoReturn:
        life.stop.set()
        raise error

    monkeypatch.setattr(session, "connect", connect)
    return Session(AmqpSettings(), [], life, random.Random(1))


def flowing() -> float | None:
    return REGISTRY.get_sample_value("aldebaran_amqp_flowing")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ChannelInvalidStateError("a channel"), "ConnectionError closed meanwhile: a channel"),
        (RuntimeError("a connection"), "ConnectionError closed meanwhile: a connection"),
        (StopAsyncIteration(), "ConnectionError closed meanwhile"),
        (Exception(), "ConnectionError closed meanwhile"),
        (ConnectionResetError("reset"), "ConnectionResetError reset"),
    ],
)
async def test_all_that_the_client_says_of_what_has_closed_is_a_loss(
    error: Exception, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = session_that_meets(error, monkeypatch)
    await one.run()
    assert one.complaint() == f"RabbitMQ: {told}"
    assert flowing() == 0


async def test_what_the_client_calls_off_as_no_heartbeat_comes_is_a_loss(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = session_that_meets(asyncio.CancelledError(), monkeypatch)
    await one.run()
    assert one.complaint() == "RabbitMQ: the connection fell silent"


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

    monkeypatch.setattr(session, "connect", connect)
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

    monkeypatch.setattr(session, "connect", connect)
    await Session(AmqpSettings(), [], life, random.Random(1)).run()
    assert told == [0, 1]


class Declared(Held):
    """A connection, its channel, an exchange and a queue in one; it lasts."""

    async def set_qos(self, **_: object) -> None:
        pass

    async def declare_exchange(self, *_: object, **__: object) -> Self:
        return self

    async def declare_queue(self, *_: object, **__: object) -> Self:
        return self

    async def bind(self, *_: object) -> None:
        pass

    async def consume(self, *_: object) -> str:
        return "tag"


async def test_another_error_of_the_client_stays_a_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(KeyError, match="ours"):
        await session_that_meets(KeyError("ours"), monkeypatch).run()


@pytest.mark.parametrize("bug", [ValueError("ours"), RuntimeError("ours"), Exception("ours")])
async def test_a_bug_of_a_feed_is_never_taken_for_a_loss(
    bug: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def connect(*_: object, **__: object) -> Declared:
        return Declared(ManualClock(), 0.0)

    monkeypatch.setattr(session, "connect", connect)
    buggy = feed(MemoryWriter())
    buggy.bug = bug
    with pytest.raises(type(bug), match="ours"):
        await Session(AmqpSettings(), [buggy], Life(), random.Random(1)).run()


@pytest.mark.parametrize("asked", ["Connection.Open", "Channel.Open"])
async def test_a_connection_that_ends_behind_an_answer_is_followed_by_another(asked: str) -> None:
    life = Life(clock=Flying())

    def met(number: int) -> None:
        if number == 2:
            life.stop.set()

    server = AmqpServer(ends_after=asked, met=met)
    async with server.serving(tls=False) as url, asyncio.timeout(PATIENCE_SECONDS):
        settings = AmqpSettings(amqp_url=SecretStr(url))
        await Session(settings, [], life, random.Random(1)).run()
    assert server.connections == 2


@pytest.mark.parametrize(("query", "expected"), [("", 10), ("?heartbeat=30", 30)])
async def test_a_server_that_falls_silent_is_missed_soon_unless_the_address_says_when(
    query: str, expected: int
) -> None:
    life = Life(clock=Flying())
    server = AmqpServer(ends_after="Connection.Open", met=lambda _: life.stop.set())
    async with server.serving(tls=False) as url, asyncio.timeout(PATIENCE_SECONDS):
        settings = AmqpSettings(amqp_url=SecretStr(url + query))
        await Session(settings, [], life, random.Random(1)).run()
    assert server.heartbeat_seconds == expected


@pytest.mark.parametrize(
    ("query", "files", "connections"),
    [
        ("", ("amqp_ca_file", "amqp_certificate_file"), 1),
        ("", ("amqp_ca_file", "amqp_certificate_file", "amqp_key_file"), 1),
        ("", ("amqp_ca_file",), 0),
        ("", ("amqp_certificate_file",), 0),
        (f"?cafile={CERTIFICATE}&certfile={CERTIFICATE}", (), 1),
    ],
)
async def test_over_tls_the_server_is_checked_and_sees_our_certificate(
    query: str, files: tuple[str, ...], connections: int
) -> None:
    life = Life(clock=Flying())
    server = AmqpServer(ends_after="Connection.Open")
    async with server.serving(tls=True, asks=True) as url, asyncio.timeout(PATIENCE_SECONDS):
        given = dict.fromkeys(files, str(CERTIFICATE))
        settings = AmqpSettings.model_validate({"amqp_url": url + query, **given})
        one = Session(settings, [], life, random.Random(1))
        running = asyncio.create_task(one.run())
        while one.complaint() == "not connected to RabbitMQ yet":
            await asyncio.sleep(0)
        life.stop.set()
        await running
    assert min(server.connections, 1) == connections
