"""What reads files: Nagios' spool, and the log channel's file.

The first byte is when a result was let go, or a line was there; it is looked for each millisecond.
"""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

from tests.bench.delivering.receivers import Seen, Site

LOOK_SECONDS: Final = 0.001
_OWNER: Final = re.compile(rb"^# Aldebaran delivery ([0-9a-f]{32})")
_LINE: Final = re.compile(rb'"delivery_id": ?"([0-9a-f]{32})"')


class SpoolReader:
    """Takes what was let go, and removes it, as Nagios does."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def new(self) -> Iterator[str]:
        """Return whose results were let go since the last look."""
        for sign in self._folder.glob("c*.ok"):
            result = sign.with_suffix("")
            found = _OWNER.match(result.read_bytes())
            sign.unlink()
            result.unlink()
            yield found[1].decode() if found else ""


class LineReader:
    """Reads a file to its end, wherever that is by now."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "lines"
        self._read = 0

    def new(self) -> Iterator[str]:
        """Return whose lines have come whole since the last look."""
        with self._path.open("rb") as file:
            file.seek(self._read)
            whole, newline, _ = file.read().rpartition(b"\n")
        self._read += len(whole) + len(newline)
        return (each[1].decode() for each in _LINE.finditer(whole))


READERS: Final[Mapping[str, Callable[[Path], SpoolReader | LineReader]]] = {
    "nagios": SpoolReader,
    "log": LineReader,
}


@asynccontextmanager
async def taking_files(channel: str, site: Site, seen: Seen) -> AsyncIterator[None]:
    """Take what comes into the folder while this lasts."""
    looking = asyncio.create_task(_look(READERS[channel](site.folder), seen))
    try:
        yield
    finally:
        looking.cancel()
        with suppress(asyncio.CancelledError):
            await looking


async def _look(reader: SpoolReader | LineReader, seen: Seen) -> None:
    while True:
        with suppress(FileNotFoundError):  # nothing was written yet
            for each in reader.new():
                seen.setdefault(each, []).append(time.monotonic_ns())
        await asyncio.sleep(LOOK_SECONDS)
