"""The gateway's key on one machine: made once, kept with its hash beside all other state."""

import hashlib
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

KEY_PREFIX = "aldebaran_"
KEY_BYTES = 32


@dataclass(frozen=True)
class ApiKey:
    """Where the key is kept, readable by its owner only, and where its hash is for the gateway."""

    folder: Path

    @property
    def key_file(self) -> Path:
        """The file that holds the key."""
        return self.folder / "api-key"

    @property
    def hashes_file(self) -> Path:
        """The file of keys as the gateway reads it: names and hashes."""
        return self.folder / "api-keys.yaml"

    def read(self) -> str:
        """Return the key; it must have been prepared."""
        return self.key_file.read_text("ascii").strip()


def prepare(key: ApiKey) -> None:
    """Make the key if there is none yet; the hash is written from the key each time."""
    key.folder.mkdir(parents=True, exist_ok=True)
    if not key.key_file.is_file():
        write_private(key.key_file, KEY_PREFIX + secrets.token_urlsafe(KEY_BYTES))
    digest = hashlib.sha256(key.read().encode("ascii")).hexdigest()
    entry = f'keys:\n  - name: this-machine\n    sha256: {digest}\n    streams: ["*"]\n'
    key.hashes_file.write_text(entry, "ascii")


def write_private(path: Path, secret: str) -> None:
    """Write one line under mode 600, whole or not at all."""
    unfinished = path.with_name(path.name + ".new")
    unfinished.unlink(missing_ok=True)
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as stream:
        stream.write(secret + "\n")
    unfinished.replace(path)
