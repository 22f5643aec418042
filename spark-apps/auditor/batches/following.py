"""Follows one watch's query from batch to batch, start after start."""

from pyspark.sql.streaming.query import StreamingQuery

from auditor import metrics
from auditor.batches.boundaries import BatchEnd, Boundaries
from auditor.batches.progress import Progress, Pulse, count, read
from auditor.batches.stagger import Phase
from auditor.cost import Cost
from services.backbone.clock import Clock
from services.backbone.log import logger

log = logger(__name__)


class Batches:
    """The batches of one watch: counted, told, held at their phase, and missed where none ends.

    Used by one thread; others only ask whether it is `not_ready`.
    """

    def __init__(
        self, watch: str, boundaries: Boundaries, pulse: Pulse, cost: Cost, clock: Clock
    ) -> None:
        self._watch = watch
        self._boundaries = boundaries
        self._pulse = pulse
        self._cost = cost
        self._clock = clock

    @property
    def last(self) -> BatchEnd | None:
        """The last batch that has ended since the query was started."""
        return self._boundaries.ended

    @property
    def has_ended_one(self) -> bool:
        """Whether a batch has ended since a query came to run."""
        return self._pulse.has_ended_batch

    def not_ready(self) -> str | None:
        """Say what is missing until the first batch runs."""
        return self._pulse.not_ready()

    def silence(self) -> str | None:
        """Say what is wrong if batches do not progress."""
        return self._pulse.dead(self._clock.awake_seconds())

    def call(self, watch: str, phase: Phase) -> None:
        """Show them under another name, and let them end at another phase from now on."""
        self._watch = watch
        self._boundaries.move(watch, phase)

    def begin(self) -> float:
        """Note that a query is started now; return the length of its first batch in seconds."""
        return self._boundaries.begin()

    def started(self, query: StreamingQuery) -> None:
        """Note that this query runs from now on."""
        run_id = str(query.runId)
        self._pulse.started(self._clock.awake_seconds())
        self._cost.begin(run_id, self._clock.monotonic_seconds())
        log.info("watch_started", watch=self._watch, run_id=run_id)

    def take(self, query: StreamingQuery) -> list[Progress]:
        """Return the batches that have ended since the last call."""
        told = self._told(query)
        working = bool(query.status["isTriggerActive"] and query.status["isDataAvailable"])
        fresh = self._pulse.take(told, working or bool(told), self._clock.awake_seconds())
        for batch in fresh:
            count(self._watch, batch)
            _tell(self._watch, batch)
        self._boundaries.note(fresh)
        if working:
            self._boundaries.steer(query)
        self._show_cost(has_committed=bool(fresh))
        return fresh

    def show_age(self) -> None:
        """Show how long ago the last batch ended."""
        age_seconds = self._pulse.age_seconds(self._clock.awake_seconds())
        metrics.PROGRESS_AGE.labels(self._watch).set(age_seconds)

    def _told(self, query: StreamingQuery) -> list[Progress]:
        """Ask for all reports only where the last one is new: Java writes out each at every ask."""
        last = query.lastProgress
        if last is None or not self._pulse.is_new(last.batchId):
            return []
        return [read(progress) for progress in query.recentProgress]

    def _show_cost(self, *, has_committed: bool) -> None:
        now = self._clock.monotonic_seconds()
        if (processors := self._cost.processors(has_committed, now)) is not None:
            metrics.PROCESSORS.labels(self._watch).set(processors)


def _tell(watch: str, batch: Progress) -> None:
    level = log.warning if batch.malformed or batch.late else log.info
    level(
        "batch",
        watch=watch,
        batch=batch.batch,
        rows=batch.rows,
        malformed=batch.malformed,
        late=batch.late,
        findings=batch.findings,
        ended_at_ms=batch.ended_at_ms,
    )
