"""How long a small write takes to become durable while something else is measured.

Every commit of the ledger waits for the disk. A shared one answers in a fraction of a millisecond,
and now and then in hundreds: whoever commits meanwhile waits as long.
"""

import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from tests.bench.percentiles import Latency, summary

BLOCK: Final = b"d" * 4096
STALL_MS: Final = 10.0
AFTER_MS: Final = 500.0
"""So long what had to wait is still being worked off."""

Look = tuple[int, int]
"""When the write began, in nanoseconds of the monotonic clock, and what it took, in nanoseconds."""


class Disk:
    """Makes a block durable, over and over, in a file of its own."""

    def __init__(self, file: Path) -> None:
        self._file = os.open(file, os.O_CREAT | os.O_WRONLY, 0o600)
        self._looks: list[Look] = []
        self._write()

    def look(self) -> None:
        """Do it once."""
        began = time.monotonic_ns()
        self._write()
        self._looks.append((began, time.monotonic_ns() - began))

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._file)

    def latency(self) -> Latency:
        """Return what the writes took."""
        return summary([took for _, took in self._looks])

    def undisturbed(self, instants_ns: Iterable[int]) -> set[int]:
        """Return those instants at which no stall was going on or being worked off."""
        return undisturbed(self._looks, instants_ns)

    def _write(self) -> None:
        os.pwrite(self._file, BLOCK, 0)
        os.fdatasync(self._file)


def undisturbed(looks: Iterable[Look], instants_ns: Iterable[int]) -> set[int]:
    """Return those instants that are in no stall, nor in the time after one."""
    after_ns = int(AFTER_MS * 1e6)
    stalls = [
        range(began, began + took + after_ns) for began, took in looks if took > STALL_MS * 1e6
    ]
    return {each for each in instants_ns if not any(each in stall for stall in stalls)}
