"""A wrapper that ties a program to its parent and then becomes that program.

    python -I -S leash.py [--ordinary-user] <parent pid> <signal> program argument...

When the parent ends in any way, kill -9 included, the kernel sends the program the signal. This is
Linux's own; elsewhere the undertaker (undertaker.py) does it alone, a moment later. With
--ordinary-user a program that refuses to run as root gets a user namespace in which root has an
ordinary number; files keep their owner outside. Only the standard library is imported: this runs
before each start.
"""

import ctypes
import os
import signal
import sys
from pathlib import Path

ORDINARY_USER_ID = 65534
CLONE_NEWUSER = 0x10000000
PR_SET_PDEATHSIG = 1
EXIT_CANNOT_START = 126


def become_ordinary_user() -> None:
    """Enter a user namespace where this user has an ordinary number; does nothing unless root."""
    if os.geteuid() != 0:
        return
    group = os.getegid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWUSER) != 0:
        reason = os.strerror(ctypes.get_errno())
        sys.stderr.write(
            f"PostgreSQL refuses to run as root, and a user namespace was refused ({reason}):"
            " run this as an ordinary user\n"
        )
        sys.exit(EXIT_CANNOT_START)
    Path("/proc/self/setgroups").write_text("deny", "ascii")
    Path("/proc/self/uid_map").write_text(f"{ORDINARY_USER_ID} 0 1", "ascii")
    Path("/proc/self/gid_map").write_text(f"{ORDINARY_USER_ID} {group} 1", "ascii")


def tie_to_parent(parent: int, death_signal: int) -> None:
    """Arrange that this process gets `death_signal` when `parent` ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, death_signal)
    if os.getppid() != parent:
        sys.exit(EXIT_CANNOT_START)


def main(arguments: list[str]) -> None:
    """Run the program in place of this one; see the module's text for the arguments."""
    if arguments[0] == "--ordinary-user":
        become_ordinary_user()
        arguments = arguments[1:]
    parent, death_signal, *command = arguments
    tie_to_parent(int(parent), signal.Signals(int(death_signal)))
    try:
        os.execvp(command[0], command)  # noqa: S606 - becoming the program is the purpose
    except OSError as error:
        sys.stderr.write(f"{command[0]} cannot be started: {error.strerror}\n")
        sys.exit(EXIT_CANNOT_START)


if __name__ == "__main__":
    main(sys.argv[1:])
