"""The files that routes are read from: their texts, and whether they have changed since."""

import hashlib
from pathlib import Path
from typing import Final

FILE_LIMIT_BYTES: Final = 4 * 1024 * 1024


class RoutesSource:
    """A routes file and what stands beside it; remembers what it has read.

    Changes are found by content, so that they are also found where a folder is a link that is
    turned to another folder, as Kubernetes does with a ConfigMap.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seen: dict[Path, str] = {}

    def text(self) -> str:
        """Return the text of the routes file; forgets what was read before.

        Raises:
            ValueError: it cannot be read; the message says why.
        """
        self._seen = {}
        return self._read(self.path)

    def beside(self, name: str) -> str:
        """Return the text of a file in the same folder.

        Raises:
            ValueError: it is elsewhere, or cannot be read; the message says why.
        """
        folder = self.path.parent
        if Path(name).name != name or name in (".", ".."):
            raise ValueError(f"{name!r} must be the name of a file beside the routes file")
        if not (folder / name).resolve().is_relative_to(folder.resolve()):
            raise ValueError(f"{name!r} leads out of the folder of the routes file")
        try:
            return self._read(folder / name)
        except ValueError as error:
            raise ValueError(f"{name} {error}") from None

    def changed(self) -> bool:
        """Tell whether any file that was read, or could not be, is different now."""
        return any(_digest(_content(path)) != seen for path, seen in self._seen.items())

    def _read(self, path: Path) -> str:
        content = _content(path)
        self._seen[path] = _digest(content)
        if isinstance(content, OSError):
            raise ValueError(f"cannot be read: {content.strerror or content}")
        if len(content) > FILE_LIMIT_BYTES:
            raise ValueError(f"has over {FILE_LIMIT_BYTES} bytes")
        try:
            return content.decode()
        except UnicodeDecodeError as error:
            raise ValueError(f"cannot be read: {error}") from None


def _content(path: Path) -> bytes | OSError:
    try:
        with path.open("rb") as file:
            return file.read(FILE_LIMIT_BYTES + 1)
    except OSError as error:
        return error


def _digest(content: bytes | OSError) -> str:
    return "" if isinstance(content, OSError) else hashlib.sha256(content).hexdigest()
