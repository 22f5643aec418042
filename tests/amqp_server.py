"""A server that speaks just enough AMQP to end a connection where a test wants it to."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from pamqp import commands, frame
from pamqp.base import Frame
from pamqp.common import FieldTable

from tests.integration.rabbitmq import CERTIFICATE

ABLE_TO: FieldTable = {"capabilities": {"publisher_confirms": True, "basic.nack": True}}
ANSWERS: dict[str, Callable[[], Frame]] = {
    "Connection.StartOk": lambda: commands.Connection.Tune(2047, 131072, 0),
    "Connection.Open": commands.Connection.OpenOk,
    "Channel.Open": commands.Channel.OpenOk,
    "Confirm.Select": commands.Confirm.SelectOk,
}
HEAD_BYTES = 7
Told = frame.FrameTypes


@dataclass
class AmqpServer:
    """Ends each connection just behind its answer named `ends_after`, or as the last message comes.

    Of so many `messages` that are published side by side only the first to come is confirmed.
    """

    ends_after: str = ""
    messages: int = 1
    met: Callable[[int], None] = lambda _: None
    """Told of each connection, and of how many there were."""
    connections: int = 0
    heartbeat_seconds: int | None = None
    """What the last client to come wants."""
    names: list[object] = field(default_factory=list)
    """What each client calls its connection."""
    _published: list[int] = field(default_factory=list)

    @asynccontextmanager
    async def serving(self, tls: bool, *, asks: bool = False) -> AsyncIterator[str]:
        """Serve, and lend the address; where it `asks`, only who shows our certificate comes in."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER) if tls else None
        if context is not None:
            context.load_cert_chain(CERTIFICATE)
            context.load_verify_locations(CERTIFICATE)
            context.verify_mode = ssl.CERT_REQUIRED if asks else ssl.CERT_NONE
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=context)
        async with server:
            port = server.sockets[0].getsockname()[1]
            yield f"amqp{'s' if tls else ''}://guest:guest@127.0.0.1:{port}/"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.met(self.connections)
        try:
            await reader.readexactly(8)
            writer.write(
                frame.marshal(commands.Connection.Start(0, 9, ABLE_TO, "PLAIN", "en_US"), 0)
            )
            while not self._has_ended(await _next(reader), writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client went first
        finally:
            writer.close()

    def _has_ended(self, asked: tuple[int, Told], writer: asyncio.StreamWriter) -> bool:
        channel, told = asked
        name = told.name
        if isinstance(told, commands.Connection.StartOk):
            self.names.append(told.client_properties.get("connection_name"))
        if isinstance(told, commands.Connection.TuneOk):
            self.heartbeat_seconds = told.heartbeat
        elif name in ANSWERS:
            writer.write(frame.marshal(ANSWERS[name](), channel))
        elif name == "ContentBody":
            self._published.append(channel)
            if len(self._published) == self.messages:
                writer.write(frame.marshal(commands.Basic.Ack(1), self._published[0]))
                return True
        return name == self.ends_after


async def _next(reader: asyncio.StreamReader) -> tuple[int, Told]:
    head = await reader.readexactly(HEAD_BYTES)
    rest = await reader.readexactly(int.from_bytes(head[3:]) + 1)
    _, channel, told = frame.unmarshal(head + rest)
    return channel, told
