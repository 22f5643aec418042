"""Steps back behind the other programs of a machine, for what may wait or is done twice."""

import os
import random
import threading
from contextlib import suppress
from pathlib import Path
from typing import Final

_OF_SESSION: Final = Path("/proc/self/autogroup")
_TRIES: Final = 40


def step_back(niceness: int) -> None:
    """Let the others have the processors first, by so much as `nice` means by it (0 to 19).

    Call it before a thread is begun: each has a niceness of its own, that of the thread which
    begins it. Linux may share processors by session first (`man 7 sched`, autogroup), and then
    niceness counts within a session alone; so one that leads its own has it step back as a whole.
    """
    os.nice(niceness)
    if os.getsid(0) == os.getpid():
        with suppress(OSError):  # another system than Linux, or a Linux without
            _write(str(niceness))


def _write(niceness: str) -> None:
    """Tell Linux, which takes one such word in 0.1 s from all of a machine's users."""
    for _ in range(_TRIES):
        with suppress(BlockingIOError):
            _OF_SESSION.write_text(niceness, "ascii")
            return
        threading.Event().wait(random.uniform(0.1, 0.2))  # noqa: S311 - so that not all do at once
