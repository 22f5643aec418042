"""What a sender reads: the declared streams, an example for each, and how to send it."""

import shlex
from typing import Any, Final, Literal

import orjson
from pydantic import BaseModel

from services.contracts.fields import FieldDeclaration
from services.contracts.streams import StreamDeclaration

_EXAMPLE_TIME: Final = "2026-11-21T09:30:00Z"


class FieldPage(BaseModel):
    """One field of a stream's events."""

    type: Literal["string", "long", "double", "boolean", "timestamp"]
    required: bool
    description: str
    enum: list[str] | None = None
    max_length: int | None = None
    minimum: int | float | None = None
    maximum: int | float | None = None


class StreamPage(BaseModel):
    """One declared stream, and how to send to it."""

    stream: str
    version: int
    description: str
    key: str
    fields: dict[str, FieldPage]
    spellings: dict[str, str]
    """Other names that a field may have, each with the stream's own name."""
    url: str
    example: dict[str, Any]
    curl: str


class StreamsPage(BaseModel):
    """All declared streams."""

    streams: list[StreamPage]


def stream_page(stream: StreamDeclaration, base_url: str, *, with_key: bool) -> StreamPage:
    """Describe one stream; `base_url` is where publishers reach us."""
    url = f"{base_url.rstrip('/')}/v1/streams/{stream.stream}/events"
    example = example_event(stream)
    return StreamPage(
        stream=stream.stream,
        version=stream.version,
        description=stream.description,
        key=stream.key,
        fields={name: _field(field) for name, field in stream.fields.items()},
        spellings=dict(stream.aliases),
        url=url,
        example=example,
        curl=_curl(url, example, with_key=with_key),
    )


def example_event(stream: StreamDeclaration) -> dict[str, Any]:
    """Make up a valid event."""
    return {name: _value(name, field) for name, field in stream.fields.items()}


def _field(field: FieldDeclaration) -> FieldPage:
    plain_text = field.type == "string" and not field.enum
    low, high = field.bounds
    return FieldPage(
        type=field.type,
        required=field.required,
        description=field.description,
        enum=list(field.enum) or None,
        max_length=field.max_length if plain_text else None,
        minimum=low,
        maximum=high,
    )


def _value(name: str, field: FieldDeclaration) -> Any:
    if field.type == "string":
        return field.enum[0] if field.enum else f"{name}-1"[-field.max_length :]
    if field.type == "timestamp":
        return _EXAMPLE_TIME
    if field.type == "boolean":
        return True
    low, high = field.bounds
    number = max(1, low) if low is not None else 1
    number = min(number, high) if high is not None else number
    return int(number) if field.type == "long" else float(number)


def _curl(url: str, example: dict[str, Any], *, with_key: bool) -> str:
    key = ["-H", "Authorization: Bearer $KEY"] if with_key else []
    words = ["curl", "-i", url, *key, "-H", "Content-Type: application/json"]
    return " ".join(_quoted(word) for word in [*words, "-d", orjson.dumps(example).decode()])


def _quoted(word: str) -> str:
    return f'"{word}"' if "$KEY" in word else shlex.quote(word)
