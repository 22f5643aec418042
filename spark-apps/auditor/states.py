"""Which states a watch under supervision has; `supervision` leads from one to another.

Waits  -> Waits    its query could not be started now
Waits  -> Reads    it was started
Waits  -> Mended   it could not be started, and something can be done about that
Reads  -> Waits    it failed, and only time helps; or it ended no batch; or it was told to stop
Reads  -> Mended   it failed, and something can be done about that
Mended -> Waits    that is done, or could not be done now
any    -> Stopped  only a person can help
"""

from dataclasses import dataclass, replace

from pyspark.sql.streaming.query import StreamingQuery

from auditor.queries.declared import Declared
from auditor.underway import UnderWay


@dataclass(frozen=True, slots=True)
class Waits:
    """No query runs; one is started when it is time, at once where nothing has failed."""

    start_at_seconds: float = 0.0
    reason: str | None = None
    """What failed."""


@dataclass(frozen=True, slots=True)
class Reads:
    """A query runs."""

    query: StreamingQuery


@dataclass(frozen=True, slots=True)
class Mended:
    """No query runs while something is done about a failure."""

    remedy: UnderWay
    reason: str
    """What failed."""


@dataclass(frozen=True, slots=True)
class Stopped:
    """The watch does not run and will not by itself."""

    reason: str
    earlier: Declared | None = None
    """What it can go back to, where the rows that it has now are bad."""


State = Waits | Reads | Mended | Stopped


def standing(state: State) -> str | None:
    """Say why no query runs just now, where one will again by itself."""
    match state:
        case Waits(reason=reason) | Mended(reason=reason):
            return reason
        case Reads() | Stopped():
            return None


@dataclass(frozen=True, slots=True)
class Record:
    """What is remembered of a watch from state to state."""

    has_worked: bool = False
    """Whether a batch that read records has ended; one without any shows nothing."""
    failing: str | None = None
    """The last failure, while the watch failed too often lately; it is still tried."""
    without_batch: int = 0
    """Failures in a row, without a batch between them."""

    def after_batch(self, rows: int) -> "Record":
        """Return what is remembered once a batch that read so many rows has ended."""
        return Record(has_worked=self.has_worked or rows > 0)

    def after_failure(self) -> "Record":
        """Return what is remembered once the query has failed."""
        return replace(self, without_batch=self.without_batch + 1)
