"""Changes that could not be tried, or failed: each waits by itself, longer with each failure."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from services.backbone.backoff import Backoff

BACKOFF: Final = Backoff(first_seconds=5.0, limit_seconds=120.0)


@dataclass(frozen=True, slots=True)
class _Wait:
    reason: str
    tries: int
    until_seconds: float
    lasting: bool


class Postponed:
    """Which watches' changes wait, and why; the health page's thread may ask at any time."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._waits: Mapping[str, _Wait] = {}

    def add(self, watch: str, reason: str, now_seconds: float, *, lasting: bool = False) -> float:
        """Let this watch's change wait after one more try; return for how many seconds.

        A `lasting` one was begun and failed: that it begins again is no success yet.
        """
        before = self._waits.get(watch)
        tries = 1 + (before.tries if before else 0)
        lasting = lasting or (before is not None and before.lasting)
        seconds = BACKOFF.seconds(tries, self._rng)
        wait = _Wait(reason, tries, now_seconds + seconds, lasting)
        self._waits = {**self._waits, watch: wait}
        return seconds

    def waits(self, watch: str, now_seconds: float) -> bool:
        """Tell whether it is too early for the next try."""
        wait = self._waits.get(watch)
        return wait is not None and now_seconds < wait.until_seconds

    def begin(self, watch: str) -> None:
        """Note that this watch's change could be tried."""
        if (wait := self._waits.get(watch)) is not None and not wait.lasting:
            self.settle(watch)

    def settle(self, watch: str) -> None:
        """Note that this watch's change is over, whatever came of it."""
        self._waits = {other: wait for other, wait in self._waits.items() if other != watch}

    def clear(self) -> None:
        """Let nothing wait any longer."""
        self._waits = {}

    def notes(self) -> list[str]:
        """Say what waits, and why."""
        return [f"the change of watch {name} waits: {w.reason}" for name, w in self._waits.items()]
