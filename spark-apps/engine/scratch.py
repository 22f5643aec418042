"""A folder for the checkpoint of a query that is never started again."""

import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from services.backbone.clock import Clock
from services.backbone.errors import Transient
from services.backbone.log import logger

QUIET_SECONDS: Final = 0.2
DEADLINE_SECONDS: Final = 10.0

log = logger(__name__)


@contextmanager
def scratch(purpose: str, clock: Clock) -> Iterator[str]:
    """Give an empty folder; at the end, with its query stopped, leave nothing of it.

    Raises:
        Transient: there is no room for a folder.
    """
    try:
        folder = Path(tempfile.mkdtemp(prefix=f"aldebaran-{purpose}-"))
    except OSError as error:
        raise Transient(f"there is no folder for a {purpose}: {error}") from None
    try:
        yield str(folder)
    finally:
        remove(folder, clock)


def remove(folder: Path, clock: Clock) -> None:
    """Remove a folder that tasks may still write to: Spark stops a query without awaiting them."""
    never, end = threading.Event(), clock.monotonic_seconds() + DEADLINE_SECONDS
    while folder.exists() and clock.monotonic_seconds() < end:
        shutil.rmtree(folder, ignore_errors=True)
        clock.wait(never, QUIET_SECONDS)
    if folder.exists():
        log.warning("scratch_left", folder=str(folder), advice="remove it by hand")
