"""Files are written whole; where one cannot be read or written a person helps, or the next try.

Too many open files, or a disk or share that fails for a moment, say nothing of what a file holds.
"""

import errno
import json
import os
from pathlib import Path
from typing import Any, Final

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


def write_whole(path: Path, content: Any) -> None:
    """Write JSON so that a crash leaves either the old file or the whole new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    with new.open("w") as file:
        json.dump(content, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
