"""The folder of all state: known by a mark, used by one run at a time, removed only when idle."""

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from services.machine.problems import MachineProblem

MARK = "run.lock"
_MOUNT: Final = frozenset({errno.EBUSY})
_STAYS: Final = _MOUNT | frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
"""Why a folder may not be removed though all in it was: a mount, or in somebody else's folder."""


@contextmanager
def occupied(home: Path) -> Iterator[None]:
    """Hold the folder for one run; the system lets go of it even when this process is killed.

    One that is made here is its user's alone: trades, mails and the archive are in it.
    Raises MachineProblem where another run holds it, or the folder holds somebody else's files.
    """
    if home.is_dir() and any(home.iterdir()) and not (home / MARK).is_file():
        raise MachineProblem(
            f"{home} has files that are not Aldebaran's: name another folder by ALDEBARAN_HOME"
        )
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (home / MARK).open("a+", encoding="ascii") as lock:
        _lock(lock.fileno(), home)
        lock.truncate(0)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        yield


def remove(home: Path) -> bool:
    """Remove the folder; return whether there was one. Refuses while a run holds it.

    A folder that is a link, a mount or in a folder that is not ours is left empty; so is a mount
    in it, and the mark then stays, as does what is above it.
    """
    if not home.is_dir():
        return False
    with occupied(home):
        # A list, as here and below nothing is to be left out after the first that stays.
        emptied = all([_remove(path) for path in home.iterdir() if path.name != MARK])
        if emptied:
            (home / MARK).unlink()
    if emptied and not home.is_symlink():
        _remove_empty(home, _STAYS)
    return True


def _remove(path: Path) -> bool:
    """Remove a path with all in it; return whether it is gone: mounts stay, and what has them."""
    if path.is_symlink() or not path.is_dir():
        path.unlink()
        return True
    emptied = all([_remove(each) for each in path.iterdir()])
    return emptied and _remove_empty(path, _MOUNT)


def _remove_empty(folder: Path, stays: frozenset[int]) -> bool:
    try:
        folder.rmdir()
    except OSError as error:
        if error.errno not in stays:
            raise
        return False
    return True


def _lock(descriptor: int, home: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        owner = (home / MARK).read_text("ascii").strip() or "unknown"
        raise MachineProblem(
            f"a run (process {owner}) is using {home}: stop it first,"
            " or name another folder by ALDEBARAN_HOME"
        ) from None
