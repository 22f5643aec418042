"""A file that only its owner reads."""

import os
from pathlib import Path


def write_private(path: Path, secret: str) -> None:
    """Write one line under mode 600, whole or not at all."""
    unfinished = path.with_name(path.name + ".new")
    unfinished.unlink(missing_ok=True)
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as stream:
        stream.write(secret + "\n")
    unfinished.replace(path)
