"""Files that cannot be read or written for a while, as a disk or a share over a network says it."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest

PASSING = (errno.ENFILE, errno.EMFILE, errno.EIO, errno.ESTALE)
BY_A_PERSON = (errno.EACCES, errno.EPERM, errno.EROFS)


def fail(monkeypatch: pytest.MonkeyPatch, method: str, name: str, number: int) -> None:
    """Let this method of every path of this name fail."""
    works = getattr(Path, method)

    def fails(path: Path, *arguments: Any, **more: Any) -> Any:
        if path.name == name:
            raise OSError(number, os.strerror(number), str(path))
        return works(path, *arguments, **more)

    monkeypatch.setattr(Path, method, fails)
