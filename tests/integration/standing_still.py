"""A process that stands still, as one does whose machine has no time for it."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Signalled(Protocol):
    """A process that takes signals."""

    def send_signal(self, number: signal.Signals, /) -> None:
        """Send it one."""


@contextmanager
def standing_still(process: Signalled) -> Iterator[None]:
    """Stop a process, but not its connections, and let it go on at the end."""
    process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        process.send_signal(signal.SIGCONT)
