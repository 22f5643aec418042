"""Events of a stream in Avro's binary encoding, and its schema, made of the stream's declaration.

A record is its values one after the other: no names, and no schema's id before them. Of types it
has those of the bench's own stream.
"""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final

from services.contracts.fields import FieldDeclaration
from services.contracts.streams import StreamDeclaration
from tests.bench.traffic import Encode

_Write = Callable[[Any], bytes]
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


def schema(stream: StreamDeclaration) -> str:
    """Return Avro's schema of the stream's events."""
    fields = [
        {
            "name": name,
            "type": _type(name, field) if field.required else ["null", _type(name, field)],
        }
        for name, field in stream.fields.items()
    ]
    return json.dumps({"type": "record", "name": stream.stream, "fields": fields})


def _type(name: str, field: FieldDeclaration) -> object:
    if field.enum:
        return {"type": "enum", "name": name, "symbols": field.enum}
    if field.type == "timestamp":
        return {"type": "long", "logicalType": "timestamp-micros"}
    return field.type


def encoder(stream: StreamDeclaration) -> Encode:
    """Return what encodes an event that is given as JSON and keeps the declaration."""
    writes = [(name, _write(field)) for name, field in stream.fields.items()]

    def encode(event: bytes) -> bytes:
        values = json.loads(event)
        return b"".join([write(values.get(name)) for name, write in writes])

    return encode


def _write(field: FieldDeclaration) -> _Write:
    if not field.required:
        return partial(_perhaps, _write(field.model_copy(update={"required": True})))
    if field.enum:
        return {each: _long(number) for number, each in enumerate(field.enum)}.__getitem__
    return _WRITES[field.type]


def _perhaps(write: _Write, value: Any) -> bytes:
    return b"\x00" if value is None else b"\x02" + write(value)


def _text(value: str) -> bytes:
    encoded = value.encode()
    return _long(len(encoded)) + encoded


def _moment(value: str) -> bytes:
    return _long((datetime.fromisoformat(value) - _EPOCH) // _MICROSECOND)


def _long(value: int) -> bytes:
    """Small numbers of either sign are short: seven bits a byte, the sign in the lowest."""
    left, encoded = (value << 1) ^ (value >> 63), bytearray()
    while left > 0x7F:
        encoded.append(left & 0x7F | 0x80)
        left >>= 7
    encoded.append(left)
    return bytes(encoded)


_WRITES: Final[Mapping[str, _Write]] = {"string": _text, "long": _long, "timestamp": _moment}
