"""Keys and secrets on one machine: made once, kept with their hashes beside all other state."""

import hashlib
import secrets
from dataclasses import dataclass
from pathlib import Path

import yaml

from services.machine.private_file import write_private

KEY_PREFIX = "aldebaran_"
KEY_BYTES = 32
OWN_NAME = "this-machine"
CONSOLE_PASSWORD = "console-password"  # noqa: S105 - a file's name


@dataclass(frozen=True)
class ApiKey:
    """Where a key is kept, readable by its owner only, and where its hash is for the program.

    `entry` is what the program's file of keys says beside name and hash.
    """

    folder: Path
    name: str = "api"
    entry: str = '  streams: ["*"]\n'

    @property
    def key_file(self) -> Path:
        """The file that holds the key."""
        return self.folder / f"{self.name}-key"

    @property
    def hashes_file(self) -> Path:
        """The file of keys as the program reads it: names and hashes."""
        return self.folder / f"{self.name}-keys.yaml"

    def read(self) -> str:
        """Return the key; it must have been prepared."""
        return self.key_file.read_text("ascii").strip()

    def opens(self, sent: str) -> bool:
        """Tell whether the file of keys has a key that somebody sends."""
        return _digest(sent.strip()).encode("ascii") in self.hashes_file.read_bytes()


def operator_key(folder: Path) -> ApiKey:
    """Return the key for the lookout's API."""
    return ApiKey(folder, "operator", "")


def prepare(key: ApiKey) -> None:
    """Make the key if there is none yet, and its entry in the file of keys.

    A file that has the entry stays as it is, as people add keys of theirs to it. Where the key is
    another by now, they stay behind its new entry.
    """
    key.folder.mkdir(parents=True, exist_ok=True)
    if not key.key_file.is_file():
        write_private(key.key_file, KEY_PREFIX + secrets.token_urlsafe(KEY_BYTES))
    digest = _digest(key.read())
    entry = f"keys:\n- name: {OWN_NAME}\n  sha256: {digest}\n{key.entry}".encode("ascii")
    held = key.hashes_file.read_bytes() if key.hashes_file.is_file() else b""
    # Nobody has added to one of the same words: indented, as it once was, it takes no entry.
    if held.split() == entry.split():
        key.hashes_file.write_bytes(entry)
    elif digest.encode("ascii") not in held:
        key.hashes_file.write_bytes(_before_others(entry, held))


def _before_others(entry: bytes, held: bytes) -> bytes:
    """Return an entry and, behind it, those of people's own; what cannot be read stays as it is,
    for the program that reads it says where it is wrong.
    """
    try:
        keys = (yaml.safe_load(held) or {}).get("keys") or []
        others = [each for each in keys if each.get("name") != OWN_NAME]
    except (yaml.YAMLError, AttributeError, TypeError):
        return held
    return entry + (yaml.safe_dump(others, encoding="utf-8", sort_keys=False) if others else b"")


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def link_secret(folder: Path) -> str:
    """Return what signs links that acknowledge."""
    return _made_once(folder, "link-secret")


def console_password(folder: Path) -> str:
    """Return the password of the console's first admin."""
    return _made_once(folder, CONSOLE_PASSWORD)


def _made_once(folder: Path, name: str) -> str:
    """Return a secret that is made once, readable by its owner only."""
    file = folder / name
    if not file.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        write_private(file, secrets.token_urlsafe(KEY_BYTES))
    return file.read_text("ascii").strip()
