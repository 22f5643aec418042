"""One auditor at a time takes a change: a lock that ends with its owner."""

import fcntl
import os
from pathlib import Path
from typing import Final

from services.backbone.errors import Transient

LOCK_FILE: Final = "turn.lock"


class Turn:
    """The right to stop and start queries, among all auditors that share a checkpoints folder.

    Auditors on several machines share no folder; there each has a turn of its own, and
    `ALDEBARAN_AUDITOR_RELOAD_DELAY_SECONDS` keeps them apart.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOCK_FILE
        self._file: int | None = None

    @property
    def held(self) -> bool:
        """Whether this auditor has the turn."""
        return self._file is not None

    def take(self) -> bool:
        """Take the turn if nobody has it; return whether this auditor has it now.

        Raises:
            Transient: the lock file cannot be opened, or its file system knows no locks.
        """
        if self._file is not None:
            return True
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            file = os.open(self._path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise Transient(f"{self._path}: {error}") from None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Over SMB a lock that another has is one that is not permitted.
        except (BlockingIOError, PermissionError):
            os.close(file)
            return False
        except OSError as error:
            os.close(file)
            raise Transient(f"{self._path}: {error}") from None
        self._file = file
        return True

    def give_back(self) -> None:
        """Let another auditor have it."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
