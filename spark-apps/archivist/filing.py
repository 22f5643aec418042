"""Files a stream's batches: what is no event is kept aside, then the events are archived."""

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from archivist.aside import rejections
from archivist.shelving import shelve
from engine.events import VALID
from services.contracts.streams import StreamDeclaration


@dataclass(frozen=True, slots=True)
class Counts:
    """What a batch held."""

    rows: int
    malformed: int


@dataclass(frozen=True, slots=True)
class Places:
    """Where a stream's records go."""

    archive: str
    """Folder of its events."""
    files_per_batch: int
    """Most files that a batch makes in one of its folders."""
    keep_aside: Callable[[DataFrame], None]
    """Takes `key`, `value` and `topic` of what is no event."""


class Filing:
    """Files the batches of a stream; tells what each held, and what went wrong.

    Of a failure Spark itself tells a trace only. A batch that cannot be archived is tried again and
    again: what is no event of it is kept aside once by each process.
    """

    def __init__(self, stream: StreamDeclaration, places: Places) -> None:
        self._stream = stream
        self._places = places
        self._counts: dict[int, Counts] = {}
        self._aside: int | None = None
        self.failure: Exception | None = None

    def __call__(self, marked: DataFrame, batch: int) -> None:
        """Do as `_file`."""
        try:
            self._counts[batch] = self._file(marked, batch)
        except Exception as error:
            self.failure = error
            raise

    def counts(self, batch: int) -> Counts:
        """Return what a batch held, once."""
        return self._counts.pop(batch, Counts(0, 0))

    def _file(self, marked: DataFrame, batch: int) -> Counts:
        """Keep aside what is no event, then archive the events; `marked` is as `shelved` makes it.

        In this sequence, since a batch may begin anew under another declaration. What the first one
        took for no event is aside by then; else it could be an event now, of a batch that was
        archived without it, and so be in neither place. It may be in both.

        Raises:
            PySparkException: the topic or the archive does not take it.
            OSError: the disk or the store does not.
        """
        held = _counts(marked)
        if held.malformed and self._aside != batch:
            self._places.keep_aside(rejections(marked, self._stream))
        self._aside = batch
        events = marked.where(F.col(VALID)).drop(VALID).coalesce(self._places.files_per_batch)
        shelve(marked.sparkSession, self._places.archive, events, batch)
        return held


def _counts(marked: DataFrame) -> Counts:
    """Spark tells its own observations of no rows that are written to Kafka."""
    (row,) = marked.agg(
        F.count(F.lit(1)).alias("rows"), F.count_if(~F.col(VALID)).alias("malformed")
    ).collect()
    return Counts(**row.asDict())
