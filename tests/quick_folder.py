"""A folder of many small files that are soon deleted: in memory, where there is room for it."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from os import getpid
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

import psutil

MEMORY: Final = Path("/dev/shm")  # noqa: S108 - the folder in it is made under a name of its own
ROOM_BYTES: Final = 2 * 2**30
"""What must be free there; a part's databases and their log take less than a quarter of it."""
NAME: Final = "aldebaran-tests-"


@contextmanager
def quick_folder(
    otherwise: Path, memory: Path = MEMORY, room_bytes: int = ROOM_BYTES
) -> Iterator[Path]:
    """Give a folder in memory until the end, or the other one.

    A database is some 300 files. To make one and drop it took ext4 half a second, most of it to
    look for numbers of files that were not just deleted, and memory a twelfth of that.
    """
    if not memory.is_dir() or shutil.disk_usage(memory).free < room_bytes:
        yield otherwise
        return
    _remove_what_was_left(memory)
    folder = Path(mkdtemp(dir=memory, prefix=f"{NAME}{getpid()}-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _remove_what_was_left(memory: Path) -> None:
    """Tests that were killed could not: what they left would keep the memory."""
    for left in memory.glob(f"{NAME}*"):
        if not psutil.pid_exists(int(left.name.removeprefix(NAME).partition("-")[0])):
            shutil.rmtree(left, ignore_errors=True)
