"""What would be told at each request, told once in a while: a log is read, and has an end."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

EVERY_SECONDS: Final = 60.0


@dataclass(slots=True)
class _Told:
    """When a kind was told last, and how often it was left out since."""

    at_seconds: float
    left_out: int = 0


class Seldom:
    """Says of each kind when it is to be told; there must be few kinds."""

    def __init__(self, every_seconds: float = EVERY_SECONDS) -> None:
        self._every_seconds = every_seconds
        self._told: dict[str, _Told] = {}

    def left_out(self, kind: str, now_seconds: float) -> int | None:
        """Return how many of a kind were left out since the last one; None: leave out this one.

        The time is that of the monotonic clock.
        """
        before = self._told.get(kind)
        if before is not None and now_seconds - before.at_seconds < self._every_seconds:
            before.left_out += 1
            return None
        self._told[kind] = _Told(now_seconds)
        return before.left_out if before else 0

    def tell(
        self,
        write: Callable[..., object],
        event: str,
        now_seconds: float,
        *,
        kind: str = "",
        between: Callable[..., object] = lambda *_, **__: None,
        **facts: object,
    ) -> None:
        """Write an event, with how many of its kind were left out before it.

        Without a kind it is one of its own. What is left out is given to `between`.
        """
        if (left_out := self.left_out(kind or event, now_seconds)) is None:
            between(event, **facts)
        else:
            write(event, **facts, left_out=left_out)
