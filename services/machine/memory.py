"""How much memory this machine or container has, and whether pairs fit into it."""

import os
from pathlib import Path
from typing import Final

PAIR: Final = 2
PAIR_MEBIBYTES: Final = 3800
"""What both pairs and all other programs need, with room for the system's file cache."""

_CONTAINER_LIMITS: Final = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)


def memory_mebibytes(limits: tuple[Path, ...] = _CONTAINER_LIMITS) -> int:
    """Return the memory of the machine, or of the container where that is less."""
    found = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for limit in limits:
        if limit.is_file() and (text := limit.read_text("ascii").strip()).isdigit():
            found.append(int(text))
    return min(found) // 2**20


def how_many_fit() -> int:
    """Return two, of what runs side by side, where their memory is there, else one."""
    return PAIR if memory_mebibytes() >= PAIR_MEBIBYTES else 1
