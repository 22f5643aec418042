"""Keys: who may ask for what. Only hashes are stored.

A key is 256 random bits, so nobody can try them all, however fast the hash: plain SHA-256 is
enough at rest. Slow password hashes protect what people choose, and would cost 0.1 s a request.
"""

import hashlib
import hmac
import os
import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Annotated, Final, Generic, NamedTuple, TypeVar

import yaml
from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    StringConstraints,
    TypeAdapter,
    ValidationError,
)

from services.backbone.clock import Clock
from services.backbone.errors import Refused
from services.backbone.log import logger
from services.backbone.web.problems import unauthorized
from services.contracts.records import Name, describe
from services.contracts.yaml_values import GivenTwice, place, read_yaml

log = logger(__name__)

KEY_PREFIX: Final = "aldebaran_"
"""Lets scanners for leaked secrets recognise a key."""
KEYS_MAX: Final = 256
DAYS_LIMIT: Final = 36_500
EMPTIED_SECONDS: Final = 5
"""So long a file that has no key any more is taken for one that is being written."""
_KEY_LIMIT_CHARACTERS: Final = 256


def _travelling(key: SecretStr) -> SecretStr:
    # A file's last newline comes along where a key is set from one.
    text = key.get_secret_value().strip()
    if not text.isascii() or not text.isprintable():
        raise ValueError("no key of keygen's: it has ASCII characters only, none of them a control")
    return SecretStr(text)


HeldKey = Annotated[SecretStr, AfterValidator(_travelling)]
"""A key as its holder has it, to be sent with requests; an empty one is none."""


class ApiKey(BaseModel):
    """One caller: whose key it is, its hash, and until when; a program may add what it opens."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Name
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
    expires: AwareDatetime | None = None

    def expired(self, now_ms: int) -> bool:
        """Tell whether the key's time is over."""
        return self.expires is not None and now_ms >= self.expires.timestamp() * 1000


Key = TypeVar("Key", bound=ApiKey)


class KeysFile(BaseModel, Generic[Key]):
    """The file of keys; where none stands under `keys:`, nobody is known."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    keys: Annotated[
        tuple[Key, ...],
        BeforeValidator(lambda given: () if given is None else given),
        Field(max_length=KEYS_MAX),
    ]


class Keys(Generic[Key]):
    """Recognises callers by their key."""

    def __init__(self, keys: Sequence[Key], clock: Clock) -> None:
        self._clock = clock
        self._keys = tuple(keys)

    def of(self, presented: str | None) -> Key:
        """Return the entry of the key that somebody presents.

        Raises:
            Problem: 401, there is no key, or it is unknown or expired.
        """
        if not presented:
            raise unauthorized("send a key as `Authorization: Bearer <key>` or `X-API-Key: <key>`")
        key = self._known(presented)
        if key is None or key.expired(self._clock.now_ms()):
            raise unauthorized("the key is unknown or expired")
        return key

    def replace(self, keys: Sequence[Key]) -> None:
        """Use other keys from now on."""
        self._keys = tuple(keys)

    def _known(self, presented: str) -> Key | None:
        digest = key_hash(presented[:_KEY_LIMIT_CHARACTERS])
        # Every entry is compared, so that the time tells nothing about which one was close.
        found = [key for key in self._keys if hmac.compare_digest(key.sha256, digest)]
        return found[0] if found else None


def key_hash(key: str) -> str:
    """Return what is stored of a key."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def bearer(headers: Mapping[str, str]) -> str | None:
    """Find the key in a request's headers."""
    scheme, _, credentials = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and credentials.strip():
        return credentials.strip()
    return headers.get("x-api-key")


def load_keys(path: Path, kind: type[Key]) -> tuple[Key, ...]:
    """Read a file of keys whose entries are of this kind; one that says nothing has none.

    Raises:
        Refused: with the file, the place and the reason.
    """
    file: TypeAdapter[KeysFile[Key]] = TypeAdapter(KeysFile[kind])  # type: ignore[valid-type]  # the caller's own kind
    try:
        said = read_yaml(path.read_text())
        keys = file.validate_python({"keys": ()} if said is None else said).keys
    except ValidationError as error:
        raise Refused(f"{path.name}: {describe(error)}") from None
    except GivenTwice as error:
        raise Refused(f"{path.name}: {error}") from None
    except yaml.YAMLError as error:
        raise Refused(f"{path.name} is no YAML{place(error)}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(f"{path.name}: {error}") from None
    if len({key.name for key in keys}) < len(keys):
        raise Refused(f"{path.name}: two keys have the same name")
    return keys


class _Stamp(NamedTuple):
    """What tells a changed file; a copy may bring its time of writing, not its time of change."""

    changed_ns: int
    written_ns: int
    size_bytes: int
    inode: int


class KeysReloader(Generic[Key]):
    """Reads a file of keys, and takes over a changed one; one that cannot be used changes nothing.

    One without any key lets nobody in: at the start too, so that a program does not stay away where
    its only key was withdrawn.

    Raises:
        Refused: at the start the file cannot be used.
    """

    def __init__(self, path: Path, kind: type[Key], clock: Clock) -> None:
        self._path = path
        self._kind = kind
        self._clock = clock
        self._turn = Lock()
        # Before the file is read, so that a change meanwhile is seen later.
        self._seen = self._stamp()
        keys = load_keys(path, kind)
        self._note = self._told(keys)
        self.keys = Keys(keys, clock)

    def look(self) -> None:
        """Read the file again if it was changed."""
        # In turn, so that what was read before never replaces what was read after it.
        with self._turn:
            stamp = self._stamp()
            if stamp != self._seen:
                self._take_over(stamp)

    def note(self) -> str | None:
        """Tell why keys of before are in use, or nobody is let in, as the last look found it."""
        return self._note

    def _take_over(self, stamp: _Stamp | None) -> None:
        try:
            keys = load_keys(self._path, self._kind)
        except Refused as error:
            self._seen, self._note = stamp, f"{error}; the keys of before are in use"
            log.error("keys_not_reloaded", reason=str(error))
            return
        if not keys and self._is_being_written(stamp):
            return
        self._seen, self._note = stamp, self._told(keys)
        self.keys.replace(keys)
        log.info("keys_reloaded", keys=[key.name for key in keys])

    def _told(self, keys: Sequence[Key]) -> str | None:
        if keys:
            return None
        log.warning("no_keys", file=self._path.name, do="put an entry of keygen's under `keys:`")
        return f"{self._path.name}: no key stands under `keys:`: nobody is let in"

    def _is_being_written(self, stamp: _Stamp | None) -> bool:
        """A shell's `>` empties a file before its command has said anything."""
        if stamp is None:
            return False
        age_ms = self._clock.now_ms() - stamp.changed_ns // 1_000_000
        return 0 <= age_ms < EMPTIED_SECONDS * 1000

    def _stamp(self) -> _Stamp | None:
        # It is opened, so that a file that nobody can read is taken over once somebody can.
        try:
            with self._path.open("rb") as file:
                state = os.fstat(file.fileno())
        except OSError:
            return None
        return _Stamp(state.st_ctime_ns, state.st_mtime_ns, state.st_size, state.st_ino)


def new_key() -> str:
    """Return a new key of 256 random bits."""
    return KEY_PREFIX + secrets.token_urlsafe(32)


def entry(kind: type[ApiKey], name: str, key: str, **more: object) -> str:
    """Return the lines for the file of keys: a list item under `keys:`.

    Raises:
        Refused: the name, or something else that was given, is not allowed.
    """
    given: dict[str, object] = {"name": name, "sha256": key_hash(key)}
    given |= {field: value for field, value in more.items() if value is not None}
    try:
        made = kind.model_validate(given)
    except ValidationError as error:
        raise Refused(describe(error)) from None
    fields = made.model_dump(exclude_none=True)
    if made.expires:
        fields["expires"] = made.expires.astimezone(UTC).isoformat()
    # YAML has lists only.
    listed = {
        field: list(each) if isinstance(each, tuple) else each for field, each in fields.items()
    }
    return yaml.safe_dump([listed], sort_keys=False, default_flow_style=None)


def expiry(clock: Clock, days: int | None) -> datetime | None:
    """Return when a key made now ends; None for never.

    Raises:
        Refused: it would have ended already, or ends in no year that a file can hold.
    """
    if days is None:
        return None
    if not 1 <= days <= DAYS_LIMIT:
        raise Refused(f"--days {days}: a key lasts 1 to {DAYS_LIMIT} days; without it, for ever")
    end_ms = clock.now_ms() + days * 86_400_000
    return datetime.fromtimestamp(end_ms // 1000, UTC)


def shown(key: str, lines: str, setting: str) -> str:
    """Return what a person reads when a key was made; the key is shown only now."""
    return (
        f"# The key, shown only now; give it to its owner:\n{key}\n\n"
        f"# Its entry; append it under `keys:` in the file that {setting} names:\n{lines}"
    )
