"""Queues of RabbitMQ as a reader sees them, and a way there that swallows the broker's answers."""

import asyncio
import socket
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import aio_pika
from aio_pika.abc import AbstractIncomingMessage


@dataclass(frozen=True)
class Queue:
    """A durable queue, bound to a durable topic exchange of the same name."""

    url: str
    name: str
    arguments: Mapping[str, str | int] = field(default_factory=dict)

    def declared(self) -> "Queue":
        async def declare() -> None:
            async with await aio_pika.connect(self.url) as connection:
                channel = await connection.channel()
                exchange = await channel.declare_exchange(self.name, "topic", durable=True)
                queue = await channel.declare_queue(
                    self.name, durable=True, arguments=dict(self.arguments)
                )
                await queue.bind(exchange, "desk.#")

        asyncio.run(declare())
        return self

    def messages(self) -> list[AbstractIncomingMessage]:
        """Read all that is there; it stays there."""

        async def read() -> list[AbstractIncomingMessage]:
            found = []
            async with await aio_pika.connect(self.url) as connection:
                channel = await connection.channel()
                queue = await channel.get_queue(self.name)
                while (message := await queue.get(fail=False)) is not None:
                    found.append(message)
            return found

        return asyncio.run(read())

    def count(self) -> Counter[str]:
        """How often each delivery id is there."""
        return Counter(message.message_id or "" for message in self.messages())


@dataclass
class Passage:
    """Forwards a TCP connection to a server; can swallow what the server says and then hang up.

    Armed with a word, it lets the bytes that hold the word through to the server, and nothing
    that the server answers to them: so the server has taken what nobody will hear of.
    """

    server_port: int
    port: int = 0
    armed: bytes | None = None
    swallowing: threading.Event = field(default_factory=threading.Event)
    _open: list[socket.socket] = field(default_factory=list)

    @contextmanager
    def listening(self) -> Iterator["Passage"]:
        with socket.create_server(("127.0.0.1", self.port)) as server:
            self.port = server.getsockname()[1]
            thread = threading.Thread(target=self._accept, args=(server,), daemon=True)
            thread.start()
            try:
                yield self
            finally:
                server.shutdown(socket.SHUT_RDWR)
                self.hang_up()
                thread.join()

    def hang_up(self) -> None:
        """Close every connection."""
        for each in self._open:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self.armed = None
        self.swallowing.clear()

    def _accept(self, server: socket.socket) -> None:
        while True:
            try:
                client, _ = server.accept()
                upstream = socket.create_connection(("127.0.0.1", self.server_port))
            except OSError:
                return
            self._open += [client, upstream]
            for pump in (self._up, self._down):
                threading.Thread(target=pump, args=(client, upstream), daemon=True).start()

    def _up(self, client: socket.socket, upstream: socket.socket) -> None:
        with suppress(OSError), upstream:
            while said := client.recv(65536):
                if self.armed is not None and self.armed in said:
                    self.swallowing.set()
                upstream.sendall(said)

    def _down(self, client: socket.socket, upstream: socket.socket) -> None:
        with suppress(OSError), client:
            while answered := upstream.recv(65536):
                if not self.swallowing.is_set():
                    client.sendall(answered)
