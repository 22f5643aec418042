"""Of a message's properties the on-ramp reads two; no other one may stop it.

The library decodes all of them. pamqp 4.0.1 ends the connection, and so all queues, over text that
is not UTF-8 or a time beyond the year 9999 (microseconds); RabbitMQ then sends that message again,
without end.
"""

from typing import Final

from pamqp import decode
from pamqp.base import BasicProperties
from pamqp.commands import Basic

_READ: Final = Basic.Properties.flags["content_type"] | Basic.Properties.flags["content_encoding"]
"""AMQP has these two before all others, so that nothing unread needs to be decoded for them."""
_decode: Final = Basic.Properties.unmarshal


def read_only_what_is_used() -> None:
    """Let the library read content type and encoding only, from now on in the whole program.

    The other properties are as if they were not given. What is not UTF-8 in a short text, as a
    routing key, is replaced.
    """
    decode.METHODS["shortstr"] = _short_text
    Basic.Properties.unmarshal = _decode_read  # type: ignore[assignment,method-assign]  # no choice


def _decode_read(properties: BasicProperties, flags: int, data: bytes) -> None:
    _decode(properties, flags & _READ, data)


def _short_text(value: bytes) -> tuple[int, str]:
    try:
        return decode.short_str(value)
    except UnicodeDecodeError:
        end = 1 + value[0]
        return end, value[1:end].decode(errors="replace")
