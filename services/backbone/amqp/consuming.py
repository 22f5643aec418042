"""A channel of RabbitMQ to consume on; it tells of each way in which messages cease to come."""

import asyncio

from aio_pika.abc import AbstractChannel, AbstractConnection


async def channel_to_consume(
    connection: AbstractConnection, lost: asyncio.Event, prefetch_messages: int
) -> AbstractChannel:
    """Open a channel; `lost` is set once the connection, the channel or a consumer is closed.

    Raises:
        any of LOST, within `told_as_lost`: it could not be opened.
    """
    connection.close_callbacks.add(lambda *_: lost.set())
    channel = await connection.channel(publisher_confirms=False)
    channel.close_callbacks.add(lambda *_: lost.set())
    # RabbitMQ ends a consumer whose queue is gone, and leaves the channel open.
    underlay = await channel.get_underlay_channel()
    underlay.on_consumer_cancel_callbacks.add(lambda _: lost.set())
    await channel.set_qos(prefetch_count=prefetch_messages)
    return channel


def loss() -> ConnectionError:
    """Return what to raise once `lost` is set."""
    return ConnectionError("the connection, its channel or a consumer was closed")
