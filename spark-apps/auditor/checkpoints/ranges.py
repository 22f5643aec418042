"""Records of one partition, by their offsets, and how a person reads them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

_TOLD_RANGES: Final = 8


@dataclass(frozen=True, slots=True)
class Range:
    """Records of one partition, from `first` up to but without `end`."""

    topic: str
    partition: int
    first: int
    end: int

    def __len__(self) -> int:
        return max(0, self.end - self.first)

    @property
    def lies_in(self) -> tuple[str, int]:
        """Topic and partition."""
        return self.topic, self.partition


def told(ranges: Iterable[Range]) -> str:
    """Return ranges as a person reads them: `topic/partition: first to last`."""
    listed = [f"{one.topic}/{one.partition}: {one.first} to {one.end - 1}" for one in ranges]
    more = f" and {len(listed) - _TOLD_RANGES} more" if len(listed) > _TOLD_RANGES else ""
    return ", ".join(listed[:_TOLD_RANGES]) + more
