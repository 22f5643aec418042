"""Java's archive of a program's classes: a start reads it, in place of thousands of classes.

Java takes an archive only beside the very program and jars it was made with, in their order: an
archive is named by these, so what no longer fits is not found. It lies beside the jars' folder.
"""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

_PATTERN: Final = "classes-*.jsa"
_NAME_LENGTH: Final = 16


class NotMade(Exception):
    """There is no archive, for this reason; programs start without it, some seconds later."""


def place(java: Path, jars: Path) -> Path:
    """Return where the archive for this Java and a folder of jars is, or would be."""
    with os.scandir(jars) as listed:  # in the order in which Java finds them
        parts = [_facts(java.resolve()), *(_facts(Path(each)) for each in listed)]
    name = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:_NAME_LENGTH]
    return jars.parent / _PATTERN.replace("*", name)


def options(java: Path, jars: Path) -> tuple[str, ...]:
    """Return what Java is told of the archive; nothing where there is none that fits."""
    try:
        archive = place(java, jars)
    except FileNotFoundError:  # neither is there an archive of what is not installed
        return ()
    return (f"-XX:SharedArchiveFile={archive}",) if archive.exists() else ()


def keep(archive: Path, run: Callable[[str], None]) -> None:
    """Keep what a Java loads that `run` starts with this option, and sees to its end.

    Archives that do not fit any more are removed.

    Raises:
        NotMade: Java wrote none, or the disk refused it.
    """
    new = archive.with_suffix(f".{os.getpid()}")
    try:
        run(f"-XX:ArchiveClassesAtExit={new}")
        if not new.exists():
            raise NotMade("Java wrote none")
        for old in archive.parent.glob(_PATTERN):
            old.unlink(missing_ok=True)
        new.rename(archive)
    except OSError as error:
        raise NotMade(str(error)) from None
    finally:
        new.unlink(missing_ok=True)


def _facts(path: Path) -> str:
    told = path.stat()
    return f"{path} {told.st_size} {told.st_mtime_ns}"
