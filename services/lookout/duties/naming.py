"""The duty that keeps in mind which recipients deliverers know by name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

Names = Mapping[str, frozenset[str]]


@dataclass(frozen=True)
class Naming:
    """Hands the names of all channels to whoever warns of unknown ones."""

    known: Callable[[], Names]
    heed: Callable[[Names], None]
    name: str = "naming"

    def do(self) -> int:
        """Read them once.

        Raises:
            Transient: Postgres is away; what was known before still counts.
        """
        self.heed(self.known())
        return 0
