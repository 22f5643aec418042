"""Ports that this process has for itself, of which nobody else takes one before it is used.

A port that the system gives out may at any moment become the near end of somebody's connection.
So each process takes whole blocks below those, each locked by a file until the process ends.
"""

import fcntl
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from typing import Final

FIRST: Final = 20_000
BLOCK: Final = 250
BLOCKS: Final = 48
"""The last one ends below 32,768, where Linux begins to give out ports by itself."""
LOCKS: Final = Path(tempfile.gettempdir(), f"aldebaran-ports-{os.getuid()}")


@dataclass
class Reservation:
    """The blocks of this process; the system lets go of them when it ends."""

    is_free: Callable[[int], bool]
    locks: Path = LOCKS
    blocks: int = BLOCKS
    _held: list[int] = field(default_factory=list)
    _next: Iterator[int] = field(default_factory=lambda: iter(()))

    def take(self, count: int) -> list[int]:
        """Return `count` different free ports; what was given lately comes last again.

        Raises:
            OSError: every block is held by another process, or has no free port left.
        """
        ports: list[int] = []
        while len(ports) < count:
            width = len(self._held) * BLOCK
            fresh = (port for port in islice(self._next, width) if port not in ports)
            ports += islice(filter(self.is_free, fresh), count - len(ports))
            if len(ports) < count:
                self._hold_one_more()
        return ports

    def _hold_one_more(self) -> None:
        self.locks.mkdir(parents=True, exist_ok=True)
        for number in range(self.blocks):
            if self._lock(self.locks / str(number)):
                self._held.insert(0, FIRST + number * BLOCK)
                self._next = cycle([start + each for start in self._held for each in range(BLOCK)])
                return
        raise OSError("no block of ports is left: too many processes reserve some at once")

    def _lock(self, file: Path) -> bool:
        opened = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(opened)
            return False
        return True
