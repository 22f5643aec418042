"""The processors of this machine, and how two programs share them so that neither is in the way."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

Cores = frozenset[int]
"""Numbers of processors, as Linux counts them; empty means all."""

ALL: Final[Cores] = frozenset()
_TOPOLOGY: Final = Path("/sys/devices/system/cpu")


def cores_here(topology: Path = _TOPOLOGY) -> tuple[int, ...]:
    """Return the processors that this process may use, neighbours beside each other.

    Threads of one core are neighbours, and so are cores of one socket. Empty where the system does
    not let a program choose (macOS).
    """
    if not hasattr(os, "sched_getaffinity"):
        return ()
    return tuple(sorted(os.sched_getaffinity(0), key=lambda number: _place(topology, number)))


def halves(cores: Sequence[int]) -> tuple[Cores, Cores]:
    """Return the first half of the processors and the last; of an odd number both have the middle.

    Both are `ALL` where there is nothing to share out.
    """
    if len(cores) < 2:
        return ALL, ALL
    each = (len(cores) + 1) // 2
    return frozenset(cores[:each]), frozenset(cores[-each:])


def _place(topology: Path, number: int) -> tuple[int, int, int]:
    told = topology / f"cpu{number}" / "topology"
    return _number(told / "physical_package_id"), _number(told / "core_id"), number


def _number(file: Path) -> int:
    return int(file.read_text("ascii")) if file.is_file() else 0
