"""Tells when a new query has read what the brokers had a moment before it stopped reading."""

from collections import deque
from typing import Final

from auditor.changes.ahead import IsClear
from auditor.checkpoints.offsets import Offsets, awaited
from auditor.checkpoints.ranges import Range

BEFORE_SECONDS: Final = 4.0
"""So long before the end of a batch's reading a record came that must have been read by then."""
SAMPLES_KEPT: Final = 600
"""At one a second more than the longest batch that catches up, with its commit."""


class CatchUp:
    """Compares how far a query has come with what the brokers had before.

    A query tells how far it has come only with each batch, and only once that is committed, which
    may take longer than it reads. So it is measured by the moment at which it stopped reading: of
    what came since it can know nothing. Between batches it reads within milliseconds.

    Not each place that lies between is a record that a query is given: whether any is, is asked,
    once for each batch.
    """

    def __init__(self, is_clear: IsClear) -> None:
        self._is_clear = is_clear
        self._samples: deque[tuple[float, Offsets]] = deque(maxlen=SAMPLES_KEPT)
        self._judged: tuple[float, bool] | None = None

    def sample(self, newest: Offsets, now_seconds: float) -> None:
        """Note the next offsets of all partitions right now."""
        self._samples.append((now_seconds, newest))

    def reached(self, read: Offsets, until_seconds: float) -> bool:
        """Tell whether a query that had read this when it stopped reading then has caught up.

        Raises:
            Transient: the brokers do not answer.
        """
        latest = until_seconds - BEFORE_SECONDS
        before = [newest for at_seconds, newest in self._samples if at_seconds <= latest]
        if not before:
            return False
        if self._judged is None or self._judged[0] != until_seconds:
            self._judged = until_seconds, self._is_clear(_left(read, before[-1]))
        return self._judged[1]


def _left(read: Offsets, newest: Offsets) -> list[Range]:
    ranges = [
        Range(topic, number, read.get(topic, {}).get(number, 0), end)
        for topic, partitions in awaited(read, newest).items()
        for number, end in partitions.items()
    ]
    return [one for one in ranges if len(one)]
