"""A wrapper that ties a program to its parent and then becomes that program.

    python -I -S leash.py [--ordinary-user] [--cores 0,1] <parent pid> <signal> program argument...

When the parent ends in any way, kill -9 included, the kernel sends the program the signal. This is
Linux's own; elsewhere the undertaker (undertaker.py) does it alone, a moment later. With
--ordinary-user a program that refuses to run as root gets a user namespace in which root has an
ordinary number; files keep their owner outside. With --cores the program, and all that it starts,
keeps to these processors. Only the standard library is imported: this runs before each start.
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


def keep_to(cores: set[int]) -> None:
    """Let the system run this process on no other processors; on all if none of these is left."""
    try:
        os.sched_setaffinity(0, cores)
    except OSError as error:
        told = ", ".join(map(str, sorted(cores)))
        sys.stderr.write(f"runs on all processors: {told} cannot be had: {error.strerror}\n")


def main(arguments: list[str]) -> None:
    """Run the program in place of this one; see the module's text for the arguments."""
    match arguments:
        case ["--ordinary-user", *rest]:
            become_ordinary_user()
            main(rest)
        case ["--cores", cores, *rest]:
            keep_to(set(map(int, cores.split(","))))
            main(rest)
        case [parent, death_signal, *command]:
            tie_to_parent(int(parent), signal.Signals(int(death_signal)))
            become(command)
        case _:
            raise ValueError(f"neither parent, signal nor program: {arguments}")


def become(command: list[str]) -> None:
    """Go on as this program."""
    try:
        os.execvp(command[0], command)  # noqa: S606 - becoming the program is the purpose
    except OSError as error:
        sys.stderr.write(f"{command[0]} cannot be started: {error.strerror}\n")
        sys.exit(EXIT_CANNOT_START)


if __name__ == "__main__":
    main(sys.argv[1:])
