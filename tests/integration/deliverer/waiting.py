"""Waiting for a condition, with a deadline far beyond what it takes."""

import time
from collections.abc import Callable

DEADLINE_SECONDS = 60.0


def until(condition: Callable[[], object], name: str) -> None:
    """Return as soon as the condition holds; fail with its name at the deadline."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"did not come: {name}"
        time.sleep(0.02)
