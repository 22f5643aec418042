"""From a publisher's object to an event of a stream: spellings, defaults, validation."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson
from pydantic import BaseModel, ValidationError

from services.contracts.records import DESCRIBED, describe
from services.contracts.streams import StreamDeclaration

EVENT_LIMIT_BYTES: Final = 64 * 1024
"""Largest event that a stream takes."""
FIELDS_LIMIT: Final = EVENT_LIMIT_BYTES // len('"":0,')
"""More fields than this fit into no event, however short they are."""
_NAME_CHARACTERS: Final = 64
_TOO_LARGE: Final = f"an event has at most {EVENT_LIMIT_BYTES} bytes"


@dataclass(frozen=True, slots=True)
class Event:
    """A valid event, ready for its topic: key text and canonical JSON bytes."""

    key: str
    value: bytes


@dataclass(frozen=True, slots=True)
class Invalid:
    """Why an input is not an event: a reason from a short list, and what exactly is wrong."""

    reason: str
    detail: str


class EventReader:
    """Reads events of one declared stream."""

    def __init__(self, stream: StreamDeclaration) -> None:
        self._stream = stream
        self._model: type[BaseModel] = stream.event_model()

    def read(self, original: bytes) -> Event | Invalid:
        """Turn JSON bytes into an event."""
        if len(original) > EVENT_LIMIT_BYTES:
            return Invalid("too_large", _TOO_LARGE)
        try:
            return self.take(orjson.loads(original))
        except orjson.JSONDecodeError as error:
            return Invalid("not_json", str(error))

    def take(self, value: Any) -> Event | Invalid:
        """Turn a parsed JSON value into an event."""
        if not isinstance(value, dict):
            return Invalid(
                "not_an_object", f"an event is a JSON object, not {type(value).__name__}"
            )
        if len(value) > FIELDS_LIMIT:  # To look at each would keep other senders waiting.
            return Invalid("too_large", _TOO_LARGE)
        named = self._named(value)
        if isinstance(named, Invalid):
            return named
        try:
            self._model.model_validate(named)
        except ValidationError as error:
            return Invalid("invalid_field", self._not_guessed(named) + describe(error))
        return self._encoded(named)

    def _named(self, value: Mapping[str, Any]) -> dict[str, Any] | Invalid:
        """Use the stream's own field names and fill in its defaults."""
        event: dict[str, Any] = {}
        for spelling, content in value.items():
            name = self._stream.aliases.get(spelling, spelling)
            if name in event:
                return Invalid("field_twice", f"{name} is given twice, once as {spelling}")
            event[name] = content
        for rule in self._stream.defaults:
            if rule.applies(event, self._stream.fields.keys()):
                event[rule.field] = event.get(rule.copy_from) if rule.copy_from else rule.value
        return event

    def _not_guessed(self, event: Mapping[str, Any]) -> str:
        """Say which fields are missing only because of others that are not declared."""
        others = [name for name in event if name not in self._stream.fields][:DESCRIBED]
        named = ", ".join(name[:_NAME_CHARACTERS] for name in others)
        return "".join(
            f"{rule.field}: not guessed beside what is not declared ({named}): "
            f"give {rule.field}, or use declared names; "
            for rule in self._stream.defaults
            if rule.when_all_declared and rule.applies(event, event.keys())
        )

    def _encoded(self, named: dict[str, Any]) -> Event | Invalid:
        try:
            encoded = orjson.dumps(named)
        except orjson.JSONEncodeError as error:
            return Invalid("too_deep", f"the event cannot be written as JSON: {error}")
        if len(encoded) > EVENT_LIMIT_BYTES:
            return Invalid("too_large", _TOO_LARGE)
        return Event(key=named[self._stream.key], value=encoded)
