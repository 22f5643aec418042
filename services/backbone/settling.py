"""Sees when declarations change, and waits until they stay as they are."""

from collections.abc import Sequence
from pathlib import Path

from services.backbone.clock import Clock
from services.contracts.declarations import digest_of


class Settling:
    """Whether the files of some folders have changed, and then stayed for `delay_seconds`."""

    def __init__(
        self, folders: Sequence[Path], delay_seconds: float, clock: Clock, taken: str
    ) -> None:
        self._folders = tuple(folders)
        self._delay_seconds = delay_seconds
        self._clock = clock
        self._taken = taken
        self._seen = taken
        self._since_seconds = clock.monotonic_seconds()

    def changed(self) -> bool:
        """Tell of each change once: when it has settled, and is no return to what was."""
        now, digest = self._clock.monotonic_seconds(), digest_of(*self._folders)
        if digest != self._seen:
            self._seen, self._since_seconds = digest, now
        if digest == self._taken or now - self._since_seconds < self._delay_seconds:
            return False
        self._taken = digest
        return True
