"""What a kept connection proves when it dies: nothing, once a byte of the request has left."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

import pytest

from services.backbone.clock import SystemClock
from services.deliverer.channel import Message, SendWindow
from services.deliverer.channels.webhook import WebhookChannel, WebhookSettings
from services.deliverer.outcomes import Accepted, Outcome, Unknown
from tests.unit.deliverer.builders import delivery

OK: Final = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

pytestmark = pytest.mark.promise("in_doubt", "webhook")


class Receiver(asyncio.Protocol):
    """Answers a request, or resets the connection as soon as the first byte of one comes."""

    def __init__(self, connections: list["Receiver"], resets: Callable[[int], bool]) -> None:
        self._connections = connections
        self._resets = resets
        self.requests = 0
        self.over = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self._connections.append(self)

    def connection_lost(self, error: Exception | None) -> None:
        self.over.set()

    def data_received(self, data: bytes) -> None:
        if b"POST" in data:
            self.requests += 1
            if self._resets(self.requests):
                self.transport.abort()
                return
        if data.endswith(b"}"):
            self.transport.write(OK)


@asynccontextmanager
async def far_end(resets: Callable[[int], bool]) -> AsyncIterator[tuple[list[Receiver], str]]:
    """Listen; give the connections that were made, and the address."""
    connections: list[Receiver] = []
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Receiver(connections, resets), "127.0.0.1", 0)
    async with server:
        yield connections, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/in"


async def send(channel: WebhookChannel, address: str, number: int) -> Outcome:
    clock = SystemClock()
    window = SendWindow(clock, clock.monotonic_seconds() + 10.0)
    return await channel.send(Message(delivery(number, recipient=address), 1), window)


def keeping() -> WebhookChannel:
    return WebhookChannel(WebhookSettings(webhook_keep_alive_seconds=60), SystemClock())


async def test_a_kept_connection_that_dies_before_any_answer_leaves_a_doubt() -> None:
    channel = keeping()
    async with far_end(lambda requests: requests == 2) as (connections, address):
        assert await send(channel, address, 1) == Accepted()
        assert isinstance(await send(channel, address, 2), Unknown)
        assert [each.requests for each in connections] == [2]
        await channel.close()


async def test_a_connection_that_was_closed_while_it_was_idle_is_not_used() -> None:
    channel = keeping()
    async with far_end(lambda requests: False) as (connections, address):
        assert await send(channel, address, 1) == Accepted()
        connections[0].transport.close()
        await connections[0].over.wait()
        assert await send(channel, address, 2) == Accepted()
        assert [each.requests for each in connections] == [1, 1]
        await channel.close()
