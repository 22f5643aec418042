"""Steps back behind the other programs of a machine, for what may wait or is done twice."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

_OF_SESSION: Final = Path("/proc/self/autogroup")


def step_back(niceness: int) -> None:
    """Let the others have the processors first, by so much as `nice` means by it (0 to 19).

    Call it before a thread is begun: each has a niceness of its own, that of the thread which
    begins it. Linux may share processors by session first (`man 7 sched`, autogroup), and then
    niceness counts within a session alone; so one that leads its own has it step back as a whole.
    """
    os.nice(niceness)
    if os.getsid(0) == os.getpid():
        with suppress(OSError):  # another system than Linux, or a Linux without
            _OF_SESSION.write_text(str(niceness), "ascii")
