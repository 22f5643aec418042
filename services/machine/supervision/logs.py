"""Keeps the logs of programs within a limit while they are being written."""

import shutil
from contextlib import suppress
from pathlib import Path

LOG_LIMIT_BYTES = 16 * 1024 * 1024


def cut_long_logs(folder: Path, limit_bytes: int = LOG_LIMIT_BYTES) -> None:
    """Move the content of each log over the limit to `<name>.log.1` and empty it.

    Programs append, so they go on writing at the start. Lines written between the copy and the
    cut are lost, which a log may; so are all, where the disk has no room for them.
    """
    with suppress(OSError):  # where it cannot be looked at now, the next look will do
        for path in folder.glob("*.log"):
            with suppress(OSError):  # somebody else may have moved it away at this moment
                _cut(path, limit_bytes)


def _cut(log: Path, limit_bytes: int) -> None:
    if log.stat().st_size > limit_bytes:
        _keep(log, log.with_suffix(".log.1"))
        with log.open("r+b") as stream:
            stream.truncate(0)


def _keep(log: Path, kept: Path) -> None:
    try:
        shutil.copyfile(log, kept)
    except OSError:
        with suppress(OSError):
            kept.unlink(missing_ok=True)
