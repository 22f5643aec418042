"""Tells when a new query has read what the brokers had a moment before it stopped reading."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from auditor.checkpoints.offsets import Offsets, awaited

BEFORE_SECONDS: Final = 4.0
"""So long before the end of a batch's reading a record came that must have been read by then."""
SAMPLES_KEPT: Final = 600
"""At one a second more than the longest batch that catches up, with its commit."""
MARKERS_MAX: Final = 2
"""So many places after the last record may be the ends of transactions, which no query reads."""
STILL_BATCHES: Final = 3
"""After one batch so many more have ended at the same place before what follows it is taken for
that: each reads for longer than a fetch waits for a lost broker (`request.timeout.ms`)."""

_Place = tuple[str, int]


@dataclass(frozen=True, slots=True)
class _Stand:
    """Where one partition stood when a batch stopped reading."""

    read: int
    end: int
    until_seconds: float
    still_batches: int = 0
    """So many batches before it ended at the same place, and nothing came meanwhile."""

    def after(self, before: "_Stand | None") -> "_Stand":
        """Return the same with what is known of the batch before, or of this one already."""
        if before is None or (before.read, before.end) != (self.read, self.end):
            return self
        is_new = before.until_seconds != self.until_seconds
        return replace(self, still_batches=before.still_batches + is_new)

    def is_read(self) -> bool:
        """Tell whether nothing is left that a query could read.

        The end of a transaction stands after a record of it, so it is never the first of all.
        """
        left = self.end - self.read
        is_still = self.still_batches >= STILL_BATCHES and self.read > 0
        return left <= 0 or (is_still and left <= MARKERS_MAX)


class CatchUp:
    """Compares how far a query has come with what the brokers had before.

    A query tells how far it has come only with each batch, and only once that is committed, which
    may take longer than it reads. So it is measured by the moment at which it stopped reading: of
    what came since it can know nothing. Between batches it reads within milliseconds.

    Where publishers write in transactions, the end of one is a place on the topic too, which no
    query ever reads: a quiet partition stays a place or two behind.
    """

    def __init__(self) -> None:
        self._samples: deque[tuple[float, Offsets]] = deque(maxlen=SAMPLES_KEPT)
        self._stands: Mapping[_Place, _Stand] = {}

    def sample(self, newest: Offsets, now_seconds: float) -> None:
        """Note the next offsets of all partitions right now."""
        self._samples.append((now_seconds, newest))

    def reached(self, read: Offsets, until_seconds: float) -> bool:
        """Tell whether a query that had read this when it stopped reading then has caught up."""
        latest = until_seconds - BEFORE_SECONDS
        before = [newest for at_seconds, newest in self._samples if at_seconds <= latest]
        if not before:
            return False
        newest = before[-1]
        self._stands = {
            (topic, number): _Stand(read.get(topic, {}).get(number, 0), end, until_seconds).after(
                self._stands.get((topic, number))
            )
            for topic, partitions in awaited(read, newest).items()
            for number, end in partitions.items()
        }
        return all(stand.is_read() for stand in self._stands.values())
