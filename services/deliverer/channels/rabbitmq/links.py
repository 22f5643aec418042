"""Connections to RabbitMQ: opened when needed, never mended, and dropped whole when in trouble."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Self

from aio_pika.abc import AbstractChannel, AbstractConnection
from pydantic import SecretStr, model_validator

from services.backbone.amqp.loss import LOST, told_as_lost
from services.backbone.amqp.rabbitmq import AmqpAddress, certificates_for, connect
from services.backbone.certificates import CaFile, Certificates
from services.backbone.settings import Seconds, Settings

CLOSE_SECONDS = 2.0


class RabbitmqSettings(Settings):
    """Which RabbitMQ, and how it is trusted."""

    rabbitmq_url: AmqpAddress = SecretStr("amqp://guest:guest@127.0.0.1:5672/")
    """amqp or, with TLS, amqps; user, password and virtual host are in the address."""
    rabbitmq_ca_file: CaFile | None = None
    """A CA of your own; without it, those that the system trusts."""
    rabbitmq_certificate_file: str | None = None
    """Our own certificate, with its key unless that is in a file of its own."""
    rabbitmq_key_file: str | None = None
    """The file of its key."""
    rabbitmq_connect_timeout_seconds: Seconds = 5.0
    """How long a connection may take to come about."""
    rabbitmq_dedupes: bool = True
    """Whether readers drop a second message with the same message id."""

    @model_validator(mode="after")
    def _our_own_can_be_shown(self) -> Self:
        self.certificates()
        return self

    def certificates(self) -> Certificates | None:
        """Return how the server is checked; None without TLS."""
        own = self.rabbitmq_certificate_file, self.rabbitmq_key_file
        return certificates_for("rabbitmq", self.rabbitmq_url, self.rabbitmq_ca_file, *own)


@dataclass
class _Link:
    connection: AbstractConnection
    idle: list[AbstractChannel] = field(default_factory=list)
    users: int = 0
    retired: bool = False

    async def channel(self) -> AbstractChannel:
        """Return a channel that nobody else uses, once RabbitMQ takes messages at all."""
        if self.connection.transport is None:
            raise ConnectionError("the connection was closed")
        await self.connection.transport.ready()  # waits while an alarm blocks publishers
        while self.idle:
            channel = self.idle.pop()
            if not channel.is_closed:
                return channel
        return await self.connection.channel(publisher_confirms=True, on_return_raises=True)

    async def blocked(self) -> bool:
        """Tell whether an alarm blocks publishers.

        RabbitMQ says so only to a connection that has published since. So that connection is kept:
        a new one would put one more message in doubt to learn the same.
        """
        if self.connection.is_closed or self.connection.transport is None:
            return False
        try:
            async with asyncio.timeout(0):  # it is ready at once, or not now
                await self.connection.transport.ready()
        except TimeoutError:
            return True
        return False

    async def close(self) -> None:
        """Say good-bye, but not for long."""
        with suppress(*LOST):
            async with asyncio.timeout(CLOSE_SECONDS):
                await self.connection.close()


class Links:
    """One connection for new sends; those in trouble are closed when their last send is over.

    Each AMQP channel carries one message at a time: RabbitMQ closes the channel of a message that
    it cannot route to any exchange, and with it would go the confirms of all others.
    """

    def __init__(self, settings: RabbitmqSettings) -> None:
        self._settings = settings
        self._certificates = settings.certificates()
        self._current: _Link | None = None
        self._opening = asyncio.Lock()
        self._closing: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def channel(self) -> AsyncIterator[AbstractChannel]:
        """Lend an AMQP channel; after any error but the broker's own answer, never use it again,
        nor its connection for another send, unless that is known to be blocked by an alarm.

        Raises:
            any of LOST: there is none, or RabbitMQ takes nothing now.
        """
        link = await self._link()
        link.users += 1
        try:
            channel = await self._within_time(link.channel())
            yield channel
            if not channel.is_closed:
                link.idle.append(channel)
        except BaseException:
            link.retired = link.retired or not await link.blocked()
            raise
        finally:
            link.users -= 1
            if link.retired and not link.users:
                self._let_go(link)

    async def close(self) -> None:
        """Close all connections."""
        if self._current is not None:
            self._let_go(self._current)
        while self._closing:
            await asyncio.wait(self._closing)

    def _let_go(self, link: _Link) -> None:
        closing = asyncio.get_running_loop().create_task(link.close())
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)

    async def _within_time(self, opening: Awaitable[AbstractChannel]) -> AbstractChannel:
        try:
            async with asyncio.timeout(self._settings.rabbitmq_connect_timeout_seconds):
                with told_as_lost():
                    return await opening
        except TimeoutError:
            raise ConnectionError(
                "takes no messages now: an alarm blocks publishers, or it is too slow"
            ) from None

    async def _link(self) -> _Link:
        async with self._opening:
            link = self._current
            if link is None or link.retired or link.connection.is_closed:
                self._current = link = _Link(await self._opened())
            return link

    async def _opened(self) -> AbstractConnection:
        with told_as_lost():
            return await connect(
                self._settings.rabbitmq_url,
                "aldebaran-deliverer",
                certificates=self._certificates,
                timeout_seconds=self._settings.rabbitmq_connect_timeout_seconds,
            )
