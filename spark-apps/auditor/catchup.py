"""Tells when a new query has read what the brokers had a moment before it stopped reading."""

from collections import deque
from typing import Final

from auditor.offsets import Offsets

BEFORE_SECONDS: Final = 4.0
"""So long before the end of a batch's reading a record came that must have been read by then."""
SAMPLES_KEPT: Final = 600
"""At one a second more than the longest batch that catches up, with its commit."""


class CatchUp:
    """Compares how far a query has come with what the brokers had before.

    A query tells how far it has come only with each batch, and only once that is committed, which
    may take longer than it reads. So it is measured by the moment at which it stopped reading: of
    what came since it can know nothing. Between batches it reads within milliseconds.
    """

    def __init__(self) -> None:
        self._samples: deque[tuple[float, Offsets]] = deque(maxlen=SAMPLES_KEPT)

    def sample(self, newest: Offsets, now_seconds: float) -> None:
        """Note the next offsets of all partitions right now."""
        self._samples.append((now_seconds, newest))

    def reached(self, read: Offsets, until_seconds: float) -> bool:
        """Tell whether a query that had read this when it stopped reading then has caught up."""
        latest = until_seconds - BEFORE_SECONDS
        before = [newest for at_seconds, newest in self._samples if at_seconds <= latest]
        return bool(before) and behind(read, before[-1]) == 0


def behind(read: Offsets, newest: Offsets) -> int:
    """Return how many records lie between."""
    return sum(
        max(0, end - read.get(topic, {}).get(number, 0))
        for topic, partitions in newest.items()
        for number, end in partitions.items()
    )
