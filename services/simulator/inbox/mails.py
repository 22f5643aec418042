"""The newest mails, each a file in a Maildir that any mail reader opens."""

import mailbox
from collections import deque
from pathlib import Path
from typing import Final

MAILS_LIMIT: Final = 10_000
_FLAGS: Final = ":"
"""What stands behind it in a file's name changes when somebody reads the mail."""


class Mails:
    """Keeps so many mails, the oldest go first; use from one thread."""

    def __init__(self, folder: Path, limit: int = MAILS_LIMIT) -> None:
        folder.parent.mkdir(parents=True, exist_ok=True)
        self._maildir = mailbox.Maildir(folder, factory=None, create=True)
        self._limit = limit
        self._keys = deque(_oldest_first(folder))
        self._cut()

    def add(self, raw: bytes) -> str:
        """Keep a mail; return its name.

        Raises:
            OSError: the disk does not take it.
        """
        key = self._maildir.add(raw)
        self._keys.append(key)
        self._cut()
        return key

    def forget(self, key: str) -> None:
        """Remove a mail of that name: its sender is told that it was not kept."""
        self._maildir.discard(key)
        self._keys.remove(key)

    def _cut(self) -> None:
        while len(self._keys) > self._limit:
            self._maildir.discard(self._keys.popleft())


def _oldest_first(folder: Path) -> list[str]:
    """Return the names of what an earlier process kept, read mails too."""
    files = [*folder.glob("new/*"), *folder.glob("cur/*")]
    files.sort(key=lambda each: each.stat().st_mtime_ns)
    return [each.name.partition(_FLAGS)[0] for each in files]
