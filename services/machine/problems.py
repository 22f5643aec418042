"""The one error of this folder: something a person can put right, said in one line."""

import errno
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_ROOM: Final = "make room"
_RIGHTS: Final = "let this user write there"
_FOLDER: Final = "remove what stands where a folder must be"
_LOCKS: Final = "have it mounted with locks"
_REMEDIES: Final[Mapping[int, str]] = {
    errno.ENOSPC: _ROOM,
    errno.EDQUOT: _ROOM,
    errno.EACCES: _RIGHTS,
    errno.EPERM: _RIGHTS,
    errno.EROFS: _RIGHTS,
    errno.EEXIST: _FOLDER,
    errno.ENOTDIR: _FOLDER,
    errno.ENOLCK: _LOCKS,
}


class MachineProblem(Exception):
    """The machine cannot do what was asked; the message says what to do about it."""


@contextmanager
def told_of_disk(folder: Path, setting: str) -> Iterator[None]:
    """Raise MachineProblem where a disk refuses what is written within; `setting` names `folder`.

    Other errors of the system pass: they are ours.
    """
    try:
        yield
    except OSError as error:
        if (remedy := _REMEDIES.get(error.errno or 0)) is None:
            raise
        raise MachineProblem(
            f"{error.filename or folder} cannot be written ({error.strerror}):"
            f" {remedy}, or name another folder by {setting}"
        ) from error
