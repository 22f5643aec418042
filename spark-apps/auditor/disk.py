"""What it means that a file cannot be read or written: a person has to help, or the next try may.

Too many open files, or a disk or share that fails for a moment, say nothing of what a file holds.
"""

import errno
from pathlib import Path
from typing import Final

from services.backbone.errors import Refused, Transient

_BY_A_PERSON: Final = frozenset(
    {
        *(errno.EACCES, errno.EPERM, errno.EROFS),
        *(errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ELOOP, errno.ENAMETOOLONG),
    }
)
"""Rights, and what stands where something else should."""


def failed(what: str, error: OSError, advice: str) -> Refused | Transient:
    """Return what is to be raised; `advice` tells a person what to do."""
    if error.errno in _BY_A_PERSON:
        return Refused(f"{what}: {error}; {advice}")
    return Transient(f"{what}: {error}")


def is_there(path: Path) -> bool:
    """Tell whether there is a file or a folder; Path.exists takes some failures for a no.

    Raises:
        OSError: that cannot be seen.
    """
    try:
        path.stat()
    except FileNotFoundError:
        return False
    return True
