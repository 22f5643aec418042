"""Messages that RabbitMQ takes and carries, and of which a client may expect nothing better."""

import struct
from collections.abc import Sequence
from typing import Final

import aio_pika
from aiormq.abc import ChannelFrame
from aiormq.channel import Channel
from pamqp import frame
from pamqp.body import ContentBody
from pamqp.commands import Basic
from pamqp.header import ContentHeader

BEYOND_YEAR_9999: Final = 1_732_000_000_000_000
"""Now, in microseconds."""
_NOT_UTF_8: Final = b"\xe9\xff"
_PLACE: Final = "@@"
"""Stands in what the library writes for what it does not want to write."""


def _odd(wire: bytes) -> bytes:
    return wire.replace(_PLACE.encode(), _NOT_UTF_8)


def _table(name: bytes, value: bytes) -> bytes:
    entry = struct.pack(">B", len(name)) + name + value
    return struct.pack(">HI", Basic.Properties.flags["headers"], len(entry)) + entry


ODD_PROPERTIES: Final = {
    "timestamp": struct.pack(">HQ", Basic.Properties.flags["timestamp"], BEYOND_YEAR_9999),
    "message id": _odd(Basic.Properties(message_id=_PLACE).marshal()),
    "correlation id": _odd(Basic.Properties(correlation_id=_PLACE).marshal()),
    "content type": _odd(Basic.Properties(content_type=f"text/{_PLACE}").marshal()),
    "header of a late time": _table(b"at", b"T" + struct.pack(">Q", BEYOND_YEAR_9999)),
    "name of a header": _table(_NOT_UTF_8, b"S" + struct.pack(">I", 1) + b"x"),
}
"""By what is odd: a message's properties as they are on the wire, flags first."""
ODD_ROUTING_KEY: Final = "routing key"


class _AsTheyAre(Basic.Properties):
    def __init__(self, wire: bytes) -> None:
        super().__init__()
        self._wire = wire

    def marshal(self) -> bytes:
        return self._wire


def header_of(wire: bytes, body_bytes: int) -> ContentHeader:
    """The header of a message with these properties."""
    return ContentHeader(body_size=body_bytes, properties=_AsTheyAre(wire))


def frames_of(odd: str, exchange: str, body: bytes, channel: int) -> bytes:
    """The frames that publish a message which is odd so."""
    wire = ODD_PROPERTIES.get(odd, Basic.Properties(delivery_mode=2).marshal())
    key = f"any.{_PLACE}" if odd == ODD_ROUTING_KEY else "any.key"
    publish = frame.marshal(Basic.Publish(exchange=exchange, routing_key=key), channel)
    header = frame.marshal(header_of(wire, len(body)), channel)
    return _odd(publish) + header + frame.marshal(ContentBody(body), channel)


async def publish_odd(url: str, exchange: str, odd: Sequence[str], bodies: Sequence[bytes]) -> None:
    """Publish as clients do that check nothing; return when RabbitMQ has all."""
    async with await aio_pika.connect(url) as connection:
        channel = await connection.channel(publisher_confirms=False)
        wire = await channel.get_underlay_channel()
        assert isinstance(wire, Channel)
        for each, body in zip(odd, bodies, strict=True):
            payload = frames_of(each, exchange, body, wire.number)
            await wire.write_queue.put(ChannelFrame(payload=payload, should_close=False))
        # RabbitMQ answers in the order of what a channel says.
        await channel.get_exchange(exchange)
