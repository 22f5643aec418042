"""Reads a queue of RabbitMQ as a desk's own program would: declares it, takes each message."""

import asyncio
import logging
import threading
from contextlib import suppress
from typing import Final

import aio_pika
from aio_pika.abc import AbstractIncomingMessage

from services.backbone.amqp.consuming import channel_to_consume, loss
from services.backbone.amqp.loss import LOST, told_as_lost
from services.backbone.log import logger
from services.simulator.inbox.faults import Verdict
from services.simulator.inbox.received import Arrival
from services.simulator.inbox.switchboard import Switchboard

WAY: Final = "rabbitmq"
AGAIN_SECONDS: Final = 1.0
PREFETCH: Final = 100

log = logger(__name__)


class QueueReader:
    """Reads on a thread of its own, and connects again when the connection is lost."""

    def __init__(self, url: str, queue: str, board: Switchboard) -> None:
        logging.getLogger("aiormq").setLevel(logging.ERROR)  # we tell of lost connections ourselves
        self._url = url
        self._queue = queue
        self._board = board
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._turn = asyncio.Lock()
        """On a full disk one message is tried again and told of, not each that is held."""
        self._thread = threading.Thread(target=self._run, name="queue", daemon=True)

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def stop(self) -> None:
        """Read no more; what is not acknowledged comes again."""
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._read())

    async def _read(self) -> None:
        while not self._stop.is_set():
            try:
                with told_as_lost():
                    await self._connected()
            except LOST as error:
                log.warning("queue_away", queue=self._queue, reason=str(error))
            await self._pause()

    async def _pause(self) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stop.wait(), AGAIN_SECONDS)

    async def _connected(self) -> None:
        lost = asyncio.Event()
        async with await aio_pika.connect(self._url) as connection:
            channel = await channel_to_consume(connection, lost, PREFETCH)
            queue = await channel.declare_queue(self._queue, durable=True)
            await queue.consume(self._take)
            ends = [asyncio.create_task(each.wait()) for each in (self._stop, lost)]
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            for each in ends:
                each.cancel()
        if not self._stop.is_set():
            raise loss()

    async def _take(self, message: AbstractIncomingMessage) -> None:
        """Settle a message; one that could not be settled comes again by itself."""
        with suppress(*LOST), told_as_lost():
            async with self._turn:
                await self._settle(message)

    async def _settle(self, message: AbstractIncomingMessage) -> None:
        """Count it before it is acknowledged: a message may be counted twice, never missed."""
        try:
            self._keep(message)
        except OSError as error:
            log.warning("not_kept", queue=self._queue, reason=str(error))
            await self._pause()
            await message.nack(requeue=True)
        else:
            await message.ack()

    def _keep(self, message: AbstractIncomingMessage) -> None:
        shown = message.body[:200].decode(errors="replace")
        arrival = Arrival(
            way=WAY,
            delivery_id=message.message_id or "",
            verdict=Verdict.ACCEPTED,
            at_ms=self._board.clock.now_ms(),
            place=self._queue,
            body=message.body.decode(errors="replace"),
        )
        self._board.took(arrival, f"{message.message_id}: {shown}")
