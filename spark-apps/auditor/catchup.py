"""Tells when a new query has read what the brokers had a moment ago."""

from collections import deque
from typing import Final

from auditor.offsets import Offsets

SAMPLES: Final = 4
"""Samples between what the brokers had and what the query must have read."""


class CatchUp:
    """Compares how far a query has committed with what the brokers had some samples before.

    A query tells how far it has come only with each batch, so it is measured against the past;
    between batches it reads within milliseconds.
    """

    def __init__(self) -> None:
        self._newest: deque[Offsets] = deque(maxlen=SAMPLES)

    def sample(self, newest: Offsets) -> None:
        """Note the next offsets of all partitions right now."""
        self._newest.append(newest)

    def reached(self, read: Offsets) -> bool:
        """Tell whether a query that has committed `read` has caught up."""
        return len(self._newest) == SAMPLES and behind(read, self._newest[0]) == 0


def behind(read: Offsets, newest: Offsets) -> int:
    """Return how many records lie between."""
    return sum(
        max(0, end - read.get(topic, {}).get(number, 0))
        for topic, partitions in newest.items()
        for number, end in partitions.items()
    )
