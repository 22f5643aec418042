"""Waiting for a condition, never for a fixed time."""

import threading
import time
from collections.abc import Callable

from services.machine.problems import MachineProblem

CHECK_INTERVAL_SECONDS = 0.05


def wait_until(condition: Callable[[], bool], timeout_seconds: float, otherwise: str) -> None:
    """Return as soon as `condition` holds.

    Raises MachineProblem with the text `otherwise` where it does not hold in time.
    """
    deadline = time.monotonic() + timeout_seconds
    pause = threading.Event()
    while not condition():
        if time.monotonic() > deadline:
            raise MachineProblem(f"{otherwise} (waited {timeout_seconds:g} s)")
        pause.wait(CHECK_INTERVAL_SECONDS)


def now_seconds() -> float:
    """Return seconds that never go back."""
    return time.monotonic()
