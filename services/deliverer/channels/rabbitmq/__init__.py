"""RabbitMQ: publishes one persistent, mandatory message and waits for the broker's confirm.

A recipient is `exchange/routing.key`, or the name of a queue. The message id is the delivery id.
RabbitMQ confirms a message that no queue gets; only the mandatory flag makes it say so, and what it
returns counts as not taken. Nothing is published twice by the client: connections are plain, and
a lost one is opened anew by the next send.
"""

import logging
from typing import Final

import aio_pika
from aio_pika.exceptions import (
    ChannelClosed,
    ChannelNotFoundEntity,
    ChannelPreconditionFailed,
    DeliveryError,
    PublishError,
)
from aiormq.exceptions import ChannelAccessRefused

from services.backbone.amqp.loss import LOST, told_as_lost
from services.backbone.clock import Clock
from services.backbone.settings import read_settings
from services.contracts.recipients import complaint
from services.contracts.records import Severity
from services.deliverer.channel import Message, Promise, SendWindow, Traits
from services.deliverer.channels.rabbitmq.links import Links, RabbitmqSettings
from services.deliverer.outcomes import Accepted, Outcome, Permanent, Refused, Unknown

_REASON_LIMIT: Final = 300

PROMISE: Final = Promise(
    recipient="`exchange/routing.key`, or a queue's name",
    our_id="message id, header `delivery-id`",
    taken_when="RabbitMQ confirms it and has not returned it",
    not_taken="no connection, blocked by an alarm, returned (no queue), no such exchange, nack",
    permanent="not allowed, too large, no name of an exchange and key or of a queue",
    in_doubt="connection lost or silence between publish and confirm",
    evidence="none; the same message id is published again",
    without_faults="once into every queue that is bound",
    after_doubt="at least once; the reader drops repeats by message id",
    not_promised=(
        "readers that ignore the id; queues that are not durable; "
        "that a nack of an exchange with several queues came from all of them"
    ),
)


class RabbitmqChannel:
    """Publishes each delivery once, on an AMQP channel that carries no other at that time."""

    def __init__(self, settings: RabbitmqSettings) -> None:
        logging.getLogger("aiormq").setLevel(logging.ERROR)  # we tell of lost connections ourselves
        self._links = Links(settings)
        self.traits = Traits(
            name="rabbitmq",
            promise=PROMISE,
            dedupes_by_key=settings.rabbitmq_dedupes,
            repeats=frozenset({Severity.CRITICAL}),
            send_timeout_seconds=10.0,
        )

    async def send(self, message: Message, window: SendWindow) -> Outcome:
        """Publish one message and wait until the broker answers for it."""
        recipient = message.delivery.recipient
        if wrong := complaint("rabbitmq", recipient):
            return Permanent(wrong)
        try:
            async with self._links.channel() as channel:
                return await _published(channel, message, window)
        except LOST as error:
            return _lost(error, window)

    def unusable(self) -> str | None:
        """Return None: a lost connection is opened anew."""
        return None

    async def close(self) -> None:
        """Close connections."""
        await self._links.close()


def address(recipient: str) -> tuple[str, str]:
    """Return exchange and routing key; a queue alone is reached by the default exchange."""
    exchange, slash, key = recipient.partition("/")
    return (exchange, key) if slash else ("", recipient)


def composed(message: Message) -> aio_pika.Message:
    """Return the message: the delivery as JSON, ids and marks as headers."""
    delivery = message.worded
    return aio_pika.Message(
        delivery.encode(),
        message_id=delivery.delivery_id,
        content_type="application/json",
        delivery_mode=aio_pika.DeliveryMode.PERSISTENT,
        app_id="aldebaran",
        type="delivery",
        headers={
            "delivery-id": delivery.delivery_id,
            "alert-id": delivery.alert.alert_id,
            "watch": delivery.alert.watch,
            "severity": delivery.alert.severity.value,
            "possible-repeat": "true" if message.marked_repeat else "false",
        },
    )


async def _published(
    channel: aio_pika.abc.AbstractChannel, message: Message, window: SendWindow
) -> Outcome:
    name, key = address(message.delivery.recipient)
    exchange = await channel.get_exchange(name, ensure=False)
    content = composed(message)
    if channel.is_closed:
        raise ConnectionError("lost before the message was published")
    window.open()
    try:
        with told_as_lost():
            await exchange.publish(content, key, mandatory=True)
    except PublishError:
        return Refused(f"returned by RabbitMQ: {_NO_QUEUE} {message.delivery.recipient!r}")
    except DeliveryError:
        return Refused("RabbitMQ answered nack: a queue is full or in trouble")
    except ChannelClosed as refusal:
        return refused(refusal)
    return Accepted()


_NO_QUEUE: Final = "no queue gets it; declare and bind one, or correct the recipient"


def refused(closed: ChannelClosed) -> Outcome:
    """Sort RabbitMQ's refusal to work on the channel, which carried this one message."""
    reason = f"RabbitMQ: {closed}"[:_REASON_LIMIT]
    match closed:
        case ChannelNotFoundEntity():
            return Refused(f"{reason}; declare the exchange, or correct the recipient")
        case ChannelAccessRefused() | ChannelPreconditionFailed():
            return Permanent(reason)
        case _:
            return Unknown(reason)


def _lost(error: Exception, window: SendWindow) -> Outcome:
    reason = f"RabbitMQ: {type(error).__name__}: {error}"[:_REASON_LIMIT]
    if window.opened:
        return Unknown(reason)
    return Refused(reason, destination_down=True)


def open_channel(_: Clock) -> RabbitmqChannel:
    """Read the settings and make the channel."""
    return RabbitmqChannel(read_settings(RabbitmqSettings))
