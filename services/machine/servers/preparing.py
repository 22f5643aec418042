"""Commands that make a store ready, each run to its end before anything is started."""

import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from services.machine.problems import MachineProblem
from services.machine.supervision.child import leashed


@dataclass(frozen=True)
class Preparation:
    """A command, what has failed when it fails, and how long it may take.

    `given` is its input; `ordinary_user` is for programs that refuse to run as root.
    """

    command: Sequence[str]
    failed: str
    timeout_seconds: float
    given: str = ""
    ordinary_user: bool = False


def carry_out(asked: Preparation) -> None:
    """Run a command that ends with this process; raises MachineProblem where it fails."""
    try:
        finished = subprocess.run(
            leashed(asked.command, signal.SIGKILL, ordinary_user=asked.ordinary_user),
            input=asked.given,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=asked.timeout_seconds,
            check=False,
            start_new_session=True,
        )
    except subprocess.TimeoutExpired:
        raise MachineProblem(
            f"{asked.failed} within {asked.timeout_seconds:g} s, the disk or the machine is too"
            " busy or too slow: try again, or name a folder on a quicker disk by ALDEBARAN_HOME"
        ) from None
    if finished.returncode != 0:
        raise MachineProblem(f"{asked.failed}: {finished.stdout}")
