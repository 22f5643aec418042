"""A small process that outlives a killed supervisor just long enough to end its programs.

It reads `+<group>` and `-<group>` lines: process groups that were started and that have ended. When
its input closes, which the system does for a supervisor killed in any way, it lets the groups end
by themselves for a moment and then kills what is left, grandchildren included. Only the standard
library is imported: as a program it runs without the project's environment.
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

GRACE_SECONDS = 2.0
CHECK_INTERVAL_SECONDS = 0.05
IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Undertaker:
    """The supervisor's side: tells the process which groups there are."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(Path(__file__))],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )

    def started(self, group: int) -> None:
        """Tell that a process group was started.

        Raises BrokenPipeError where the undertaker itself was killed.
        """
        self._tell(f"+{group}\n")

    def ended(self, group: int) -> None:
        """Tell that nothing of a process group is left; a dead undertaker need not know."""
        with suppress(BrokenPipeError):
            self._tell(f"-{group}\n")

    def close(self) -> None:
        """End the process; all groups must have ended, else they are killed."""
        if self._process.stdin is not None:
            with suppress(BrokenPipeError):
                self._process.stdin.close()
        self._process.wait()

    def _tell(self, line: str) -> None:
        if self._process.stdin is not None:
            self._process.stdin.write(line.encode())
            self._process.stdin.flush()


def left_over(lines: Iterable[str]) -> set[int]:
    """Return the groups that were started and not ended, given all lines."""
    groups: set[int] = set()
    for line in lines:
        group = int(line[1:])
        if line[0] == "+":
            groups.add(group)
        else:
            groups.discard(group)
    return groups


def exists(group: int) -> bool:
    """Say whether any process of the group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def bury(groups: set[int], grace_seconds: float) -> None:
    """Wait this long for the groups to end, then kill what is left."""
    pause = threading.Event()
    for _ in range(int(grace_seconds / CHECK_INTERVAL_SECONDS)):
        if not any(exists(group) for group in groups):
            return
        pause.wait(CHECK_INTERVAL_SECONDS)
    for group in groups:
        # One that has ended meanwhile must not keep the others alive; macOS refuses what is dead.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


def main() -> None:
    """Read until the supervisor is gone, then see to it that its programs are too."""
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    bury(left_over(sys.stdin), GRACE_SECONDS)


if __name__ == "__main__":
    main()
