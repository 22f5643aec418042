"""Which watches beat, and which of them auditors have had the time to start."""

from collections.abc import Iterable
from typing import Final

NEW_WATCH_SECONDS: Final = 120.0
"""So long a watch that was added may take until both auditors run it: it waits behind a change."""


class Watched:
    """The names of the watches that beat; times are seconds of one monotonic clock.

    Those that are there from the start are expected to answer at once.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._added: dict[str, float] = dict.fromkeys(names, -NEW_WATCH_SECONDS)

    def names(self) -> tuple[str, ...]:
        """Return all that beat."""
        return tuple(self._added)

    def take(self, names: Iterable[str], now: float) -> set[str]:
        """Take these in place of the ones before; return those that ended."""
        before = self._added
        self._added = {name: before.get(name, now) for name in names}
        return set(before) - set(self._added)

    def expected(self, now: float) -> tuple[str, ...]:
        """Return those whose answers are expected by now."""
        added = self._added
        return tuple(name for name, at in added.items() if now - at >= NEW_WATCH_SECONDS)
