"""Who may send to which stream."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final

from pydantic import Field

from services.backbone.web import keys
from services.backbone.web.keys import ApiKey, Keys
from services.gateway.problems import NotOpen

ALL_STREAMS: Final = "*"


class SenderKey(ApiKey):
    """One sender's key and the streams that it opens."""

    streams: Annotated[tuple[str, ...], Field(min_length=1, max_length=256)]

    def opens(self, stream: str) -> bool:
        """Tell whether the key is for this stream."""
        return stream in self.streams or ALL_STREAMS in self.streams


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sends, and which streams are open to it."""

    name: str
    key: SenderKey | None = None

    def may_send_to(self, stream: str) -> bool:
        """Tell whether the stream is open to this caller."""
        return self.key is None or self.key.opens(stream)


@dataclass(frozen=True, slots=True)
class Senders:
    """Recognises senders by their key."""

    keys: Keys[SenderKey]

    def caller(self, presented: str | None) -> Caller:
        """Return who presents this key.

        Raises:
            Problem: 401, there is no key, or it is unknown or expired.
        """
        key = self.keys.of(presented)
        return Caller(key.name, key)


class Anybody:
    """Takes everybody: keys are switched off."""

    def caller(self, presented: str | None) -> Caller:
        """Return the one caller there is."""
        return Caller("anyone")


def check_open(caller: Caller, stream: str) -> None:
    """Refuse a caller that has no business with a stream.

    Raises:
        Problem: 403.
    """
    if not caller.may_send_to(stream):
        raise NotOpen(caller.name, stream)


def entry(name: str, key: str, streams: Sequence[str], expires: datetime | None = None) -> str:
    """Return the lines for the file of keys: a list item under `keys:`.

    Raises:
        Refused: the name is not allowed.
    """
    return keys.entry(SenderKey, name, key, streams=list(streams), expires=expires)
