"""The connection to RabbitMQ: declares, consumes, and comes back after a loss."""

import asyncio
import random
from collections.abc import Sequence
from typing import Final

import aio_pika
from aio_pika.abc import AbstractChannel, AbstractQueue, FieldValue
from aio_pika.exceptions import (
    AuthenticationError,
    ChannelPreconditionFailed,
    ProbableAuthenticationError,
)

from services.backbone.amqp.consuming import channel_to_consume, loss
from services.backbone.amqp.loss import LOST, told_as_lost
from services.backbone.amqp.rabbitmq import connect
from services.backbone.backoff import Backoff
from services.backbone.cancelling import is_cancelled
from services.backbone.errors import Refused, Transient
from services.backbone.log import logger
from services.backbone.service import Life
from services.gateway.amqp.bindings import Binding
from services.gateway.amqp.feed import Feed
from services.gateway.amqp.metrics import FLOWING
from services.gateway.amqp.settings import AmqpSettings

log = logger(__name__)

CHECK_SECONDS: Final = 0.1
STEADY_SECONDS: Final = 10.0
"""A connection that held so long was a good one: after it the back-off begins anew."""
DRAIN_SECONDS: Final = 6.0
"""Longer than the producer's timeout, so that every message in work is settled or given up."""


class Session:
    """Keeps the feeds connected until the program is told to stop."""

    def __init__(
        self, settings: AmqpSettings, feeds: Sequence[Feed], life: Life, rng: random.Random
    ) -> None:
        self._settings = settings
        self._certificates = settings.certificates()
        self._feeds = feeds
        self._life = life
        self._rng = rng
        self._backoff = Backoff(first_seconds=0.2, limit_seconds=10.0)
        self._complaint: str | None = "not connected to RabbitMQ yet"
        self._attempt = 0
        self._consuming_since_seconds: float | None = None
        FLOWING.set_function(lambda: self.complaint() is None)

    def complaint(self) -> str | None:
        """Return what keeps events from flowing, or None."""
        return self._complaint or next((f.trouble for f in self._feeds if f.trouble), None)

    async def run(self) -> None:
        """Consume until the program is told to stop.

        Raises:
            Refused: RabbitMQ does not take the user, or has an exchange or queue of other kind.
            Transient: the producer must be replaced.
        """
        while not self._life.stop.is_set():
            try:
                await self._connected()
            except (AuthenticationError, ProbableAuthenticationError) as error:
                raise Refused(f"RabbitMQ does not take the user of amqp_url: {error}") from None
            except ChannelPreconditionFailed as error:
                raise Refused(f"RabbitMQ: {error}; {_OTHER_KIND}") from None
            except LOST as error:
                await self._lost(f"{type(error).__name__} {error}")
            except asyncio.CancelledError:
                if is_cancelled():
                    raise
                await self._lost("the connection fell silent")

    async def _lost(self, why: str) -> None:
        self._attempt = 1 if self._has_held() else self._attempt + 1
        self._complaint = f"RabbitMQ: {why}"
        log.warning("connection_lost", attempt=self._attempt, reason=self._complaint)
        await self._pause(self._backoff.seconds(self._attempt, self._rng))

    def _has_held(self) -> bool:
        """Say whether the connection that is lost was a good one."""
        since, self._consuming_since_seconds = self._consuming_since_seconds, None
        return since is not None and self._now_seconds() - since >= STEADY_SECONDS

    def _now_seconds(self) -> float:
        return self._life.clock.monotonic_seconds()

    async def _connected(self) -> None:
        with told_as_lost():
            connection = await connect(
                self._settings.amqp_url,
                "aldebaran-amqp",
                certificates=self._certificates,
                timeout_seconds=self._settings.amqp_connect_timeout_seconds,
            )
        lost = asyncio.Event()
        async with connection:
            prefetch_messages = self._settings.amqp_prefetch_messages
            with told_as_lost():
                channel = await channel_to_consume(connection, lost, prefetch_messages)
                consuming = [await _consume(channel, feed) for feed in self._feeds]
            self._complaint, self._consuming_since_seconds = None, self._now_seconds()
            log.info("consuming", queues=[feed.binding.queue for feed in self._feeds])
            await self._until_over(lost)
            if not lost.is_set():
                await self._drain(consuming)
        if lost.is_set() and not self._life.stop.is_set():
            raise loss()

    async def _until_over(self, lost: asyncio.Event) -> None:
        while not (lost.is_set() or self._life.stop.is_set()):
            self._raise_what_ends_us()
            await asyncio.sleep(CHECK_SECONDS)

    def _raise_what_ends_us(self) -> None:
        if failures := self._life.health.live():
            raise Transient(f"a restart is needed: {failures}")
        for feed in self._feeds:
            if feed.bug is not None:
                raise feed.bug

    async def _drain(self, consuming: Sequence[tuple[AbstractQueue, str]]) -> None:
        """Take no new messages, and settle those in work."""
        with told_as_lost():
            for queue, tag in consuming:
                await queue.cancel(tag)
        deadline = self._now_seconds() + DRAIN_SECONDS
        while any(feed.working for feed in self._feeds):
            if self._now_seconds() > deadline:
                return
            await asyncio.sleep(CHECK_SECONDS / 10)

    async def _pause(self, seconds: float) -> None:
        deadline = self._now_seconds() + seconds
        while self._now_seconds() < deadline and not self._life.stop.is_set():
            await asyncio.sleep(CHECK_SECONDS)


_OTHER_KIND: Final = (
    "it exists already and is of another kind: name its exchange_type, or say "
    "`declare_exchange: false`, or name another queue in the file of bindings"
)


async def _consume(channel: AbstractChannel, feed: Feed) -> tuple[AbstractQueue, str]:
    queue = await _declare(channel, feed.binding)
    return queue, await queue.consume(feed.take)


async def _declare(channel: AbstractChannel, binding: Binding) -> AbstractQueue:
    exchange = await channel.declare_exchange(
        binding.exchange,
        aio_pika.ExchangeType(binding.exchange_type),
        durable=True,
        passive=not binding.declare_exchange,
    )
    await channel.declare_queue(binding.oversized_queue, durable=True)
    dead_letters: dict[str, FieldValue] = {
        "x-dead-letter-exchange": "",
        "x-dead-letter-routing-key": binding.oversized_queue,
    }
    queue = await channel.declare_queue(binding.queue, durable=True, arguments=dead_letters)
    for key in binding.routing_keys:
        await queue.bind(exchange, key)
    return queue
