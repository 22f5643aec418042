"""Queues of RabbitMQ as a reader sees them."""

import asyncio
from collections import Counter
from collections.abc import Mapping
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
