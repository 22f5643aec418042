"""Readers of ours at a broker: of a topic of Kafka's, and of a queue of RabbitMQ's.

The first byte is when such a reader has the message in hand.
"""

import asyncio
import threading
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import aio_pika
from aio_pika.abc import AbstractIncomingMessage
from confluent_kafka import Consumer

from services.contracts.topics import NOTIFICATIONS
from tests.bench.delivering.receivers import Seen, Site

QUEUE: Final = "desk"


@asynccontextmanager
async def taking_records(site: Site, seen: Seen) -> AsyncIterator[None]:
    """Read the bus channel's topic, from its start, while this lasts."""
    consumer = Consumer(
        {
            "bootstrap.servers": site.bootstrap,
            "group.id": f"bench-{uuid.uuid4().hex}",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "fetch.wait.max.ms": 100,
        }
    )
    consumer.subscribe([NOTIFICATIONS])
    over = threading.Event()
    reading = asyncio.create_task(asyncio.to_thread(_read, consumer, seen, over))
    try:
        yield
    finally:
        over.set()
        await reading
        consumer.close()


def _read(consumer: Consumer, seen: Seen, over: threading.Event) -> None:
    while not over.is_set():
        message = consumer.poll(0.1)
        now = time.monotonic_ns()
        key = None if message is None or message.error() else message.key()
        if key is not None:
            name = key.decode() if isinstance(key, bytes) else key
            seen.setdefault(name, []).append(now)


@asynccontextmanager
async def taking_messages(site: Site, seen: Seen) -> AsyncIterator[None]:
    """Read the queue while this lasts."""

    async def note(message: AbstractIncomingMessage) -> None:
        seen.setdefault(message.message_id or "", []).append(time.monotonic_ns())

    async with await aio_pika.connect(site.rabbitmq) as connection:
        channel = await connection.channel()
        queue = await channel.declare_queue(QUEUE, durable=True)
        await queue.consume(note, no_ack=True)
        yield
