"""Processes that a test recognises as its own."""

import subprocess
from typing import Final

from services.machine.waiting import wait_until

GONE_SECONDS: Final = 20


def marked(mark: str, program: str = "") -> list[int]:
    """The ids of running processes that carry the mark."""
    listed = subprocess.run(
        ["/bin/ps", "-axo", "pid=,args="], capture_output=True, text=True, check=True
    )
    lines = [line.strip() for line in listed.stdout.splitlines() if mark in line]
    return [int(line.split()[0]) for line in lines if program in line]


def none_is_left(mark: str) -> None:
    """See that no process carries the mark any more.

    Whoever kills a group waits for its first process only; the others end when they have a turn.
    """
    wait_until(lambda: not marked(mark), GONE_SECONDS, f"processes with the mark {mark} are left")
