"""API keys: who may send to which stream. Only hashes are stored.

A key is 256 random bits, so nobody can try them all, however fast the hash: plain SHA-256 is
enough at rest. Slow password hashes protect what people choose, and would cost 0.1 s a request.
"""

import hashlib
import hmac
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

import yaml
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from services.backbone.clock import Clock
from services.backbone.errors import Refused
from services.backbone.log import logger
from services.contracts.records import Name, describe
from services.gateway.problems import Problem, unauthorized

log = logger(__name__)

KEY_PREFIX: Final = "aldebaran_"
"""Lets scanners for leaked secrets recognise a key."""
ALL_STREAMS: Final = "*"
KEYS_MAX: Final = 256
_KEY_LIMIT_CHARACTERS: Final = 256


class ApiKey(BaseModel):
    """One sender: whose key it is, its hash, and what it opens."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Name
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
    streams: Annotated[tuple[str, ...], Field(min_length=1, max_length=256)]
    expires: AwareDatetime | None = None

    def opens(self, stream: str) -> bool:
        """Tell whether the key is for this stream."""
        return stream in self.streams or ALL_STREAMS in self.streams

    def expired(self, now_ms: int) -> bool:
        """Tell whether the key's time is over."""
        return self.expires is not None and now_ms >= self.expires.timestamp() * 1000


class KeysFile(BaseModel):
    """The file of keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    keys: Annotated[tuple[ApiKey, ...], Field(min_length=1, max_length=KEYS_MAX)]


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sends, and which streams are open to it."""

    name: str
    key: ApiKey | None = None

    def may_send_to(self, stream: str) -> bool:
        """Tell whether the stream is open to this caller."""
        return self.key is None or self.key.opens(stream)


class Keys:
    """Recognises callers by their key."""

    def __init__(self, keys: Sequence[ApiKey], clock: Clock) -> None:
        self._clock = clock
        self._keys = tuple(keys)

    def caller(self, presented: str | None) -> Caller:
        """Return who presents this key.

        Raises:
            Problem: 401, there is no key, or it is unknown or expired.
        """
        if not presented:
            raise unauthorized("send a key as `Authorization: Bearer <key>` or `X-API-Key: <key>`")
        key = self._known(presented)
        if key is None or key.expired(self._clock.now_ms()):
            raise unauthorized("the key is unknown or expired")
        return Caller(key.name, key)

    def replace(self, keys: Sequence[ApiKey]) -> None:
        """Use other keys from now on."""
        self._keys = tuple(keys)

    def _known(self, presented: str) -> ApiKey | None:
        digest = key_hash(presented[:_KEY_LIMIT_CHARACTERS])
        # Every entry is compared, so that the time tells nothing about which one was close.
        found = [key for key in self._keys if hmac.compare_digest(key.sha256, digest)]
        return found[0] if found else None


class NoKeys:
    """Takes everybody: keys are switched off."""

    def caller(self, presented: str | None) -> Caller:
        """Return the one caller there is."""
        return Caller("anyone")


def key_hash(key: str) -> str:
    """Return what is stored of a key."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def bearer(headers: Mapping[str, str]) -> str | None:
    """Find the key in a request's headers."""
    scheme, _, credentials = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and credentials.strip():
        return credentials.strip()
    return headers.get("x-api-key")


def check_open(caller: Caller, stream: str) -> None:
    """Refuse a caller that has no business with a stream.

    Raises:
        Problem: 403.
    """
    if not caller.may_send_to(stream):
        raise Problem(403, "stream_not_open", f"the key {caller.name} is not for stream {stream}")


def load_keys(path: Path) -> tuple[ApiKey, ...]:
    """Read the file of keys.

    Raises:
        Refused: with the file, the place and the reason.
    """
    try:
        keys = KeysFile.model_validate(yaml.safe_load(path.read_text())).keys
    except ValidationError as error:
        raise Refused(f"{path.name}: {describe(error)}") from None
    except (yaml.YAMLError, OSError, UnicodeDecodeError) as error:
        raise Refused(f"{path.name}: {error}") from None
    if len({key.name for key in keys}) < len(keys):
        raise Refused(f"{path.name}: two keys have the same name")
    return keys


class KeysReloader:
    """Takes over a changed file of keys; a file that cannot be used changes nothing."""

    def __init__(self, path: Path, keys: Keys) -> None:
        self._path = path
        self._keys = keys
        self._seen = self._stamp()

    def look(self) -> None:
        """Read the file again if it was changed."""
        stamp = self._stamp()
        if stamp == self._seen:
            return
        self._seen = stamp
        try:
            keys = load_keys(self._path)
        except Refused as error:
            log.error("keys_not_reloaded", reason=str(error))
            return
        self._keys.replace(keys)
        log.info("keys_reloaded", keys=[key.name for key in keys])

    def _stamp(self) -> tuple[int, int, int] | None:
        try:
            state = self._path.stat()
        except OSError:
            return None
        return state.st_mtime_ns, state.st_size, state.st_ino


def new_key() -> str:
    """Return a new key of 256 random bits."""
    return KEY_PREFIX + secrets.token_urlsafe(32)


def entry(name: str, key: str, streams: Sequence[str], expires: datetime | None = None) -> str:
    """Return the lines for the file of keys: a list item under `keys:`.

    Raises:
        Refused: the name is not allowed.
    """
    try:
        made = ApiKey(name=name, sha256=key_hash(key), streams=tuple(streams), expires=expires)
    except ValidationError as error:
        raise Refused(describe(error)) from None
    fields = made.model_dump(exclude_none=True) | {"streams": list(streams)}
    if made.expires:
        fields["expires"] = made.expires.astimezone(UTC).isoformat()
    return yaml.safe_dump([fields], sort_keys=False, default_flow_style=None)
