"""Whatever a message says of itself, the library hands it to us."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

import pytest
from aio_pika.message import IncomingMessage
from aiormq.abc import AbstractChannel, DeliveredMessage
from hypothesis import given
from hypothesis import strategies as st
from pamqp import decode, frame
from pamqp.body import ContentBody
from pamqp.commands import Basic
from pamqp.exceptions import UnmarshalingException
from pamqp.header import ContentHeader

from services.gateway.amqp.properties import read_only_what_is_used
from tests.integration.gateway.odd_messages import (
    ODD_PROPERTIES,
    ODD_ROUTING_KEY,
    frames_of,
    header_of,
)

ODD = [*ODD_PROPERTIES, ODD_ROUTING_KEY]
FLAGS = Basic.Properties.flags
SHORT = st.none() | st.binary(max_size=255)


@contextmanager
def only_what_is_used() -> Iterator[None]:
    """Do as the on-ramp does, and undo it for the tests that come after."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(decode.METHODS, "shortstr", decode.METHODS["shortstr"])
        patch.setattr(Basic.Properties, "unmarshal", Basic.Properties.unmarshal)
        read_only_what_is_used()
        yield


def handed_over(odd: str, body: bytes) -> IncomingMessage:
    """Read the frames of a message as the library does when RabbitMQ delivers it."""
    data, read = frames_of(odd, "e", body, 1), []
    while data:
        used, _, each = frame.unmarshal(data)
        read.append(each)
        data = data[used:]
    published, header, content = read
    assert isinstance(published, Basic.Publish)
    assert isinstance(header, ContentHeader)
    assert isinstance(content, ContentBody)
    delivery = Basic.Deliver("consumer", 1, False, "e", published.routing_key)
    nowhere = cast(AbstractChannel, None)
    return IncomingMessage(DeliveredMessage(delivery, header, content.value, nowhere))


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_message_is_handed_over(odd: str) -> None:
    with only_what_is_used():
        message = handed_over(odd, b"{}")
    assert message.body == b"{}"
    assert message.content_encoding is None


@pytest.mark.parametrize("odd", ODD)
def test_the_library_still_fails_without_us(odd: str) -> None:
    """Once this fails the library is mended: see whether properties.py can go."""
    with pytest.raises((ValueError, UnmarshalingException)):
        handed_over(odd, b"{}")


def short(text: bytes | None) -> bytes:
    return b"" if text is None else bytes([len(text)]) + text


def replaced(text: bytes | None) -> str | None:
    return None if text is None else text.decode(errors="replace")


@given(SHORT, SHORT, st.sets(st.sampled_from(list(FLAGS)[2:])), st.binary(max_size=300))
def test_type_and_encoding_are_read_whatever_follows(
    content_type: bytes | None, content_encoding: bytes | None, others: set[str], rest: bytes
) -> None:
    flags = sum(FLAGS[name] for name in others)
    flags += FLAGS["content_type"] * (content_type is not None)
    flags += FLAGS["content_encoding"] * (content_encoding is not None)
    wire = flags.to_bytes(2, "big") + short(content_type) + short(content_encoding) + rest
    sent = frame.marshal(header_of(wire, 7), 1)
    with only_what_is_used():
        header = frame.unmarshal(sent)[2]
    assert isinstance(header, ContentHeader)
    said = header.properties
    assert header.body_size == 7
    assert (said.content_type, said.content_encoding) == (
        replaced(content_type),
        replaced(content_encoding),
    )
    assert not any(getattr(said, name) for name in others)
