"""Starts a watch's query, and again after failures, until there were too many."""

from collections.abc import Callable

from pyspark.sql.streaming.query import StreamingQuery

from auditor import metrics
from auditor.boundaries import Boundaries
from auditor.guards import is_permanent, refusal
from auditor.progress import Progress, Pulse, count, read
from engine.restarts import Failures, first_line
from services.backbone.clock import Clock
from services.backbone.errors import Transient
from services.backbone.log import logger

log = logger(__name__)


class Supervised:
    """One watch's query under supervision; `look` is called again and again by one thread."""

    def __init__(
        self,
        watch: str,
        start: Callable[[float], StreamingQuery],
        boundaries: Boundaries,
        pulse: Pulse,
        failures: Failures,
        clock: Clock,
    ) -> None:
        self._watch = watch
        self._start = start
        self._boundaries = boundaries
        self._pulse = pulse
        self._failures = failures
        self._clock = clock
        self._query: StreamingQuery | None = None
        self._start_at_seconds = 0.0

    def look(self) -> None:
        """Start the query if it is due, note its progress, or plan its next try.

        Raises:
            Refused: Spark says that this query can never run.
            Transient: it failed too often.
        """
        if self._query is None:
            self._start_if_due()
        elif self._query.isActive:
            self._note_progress(self._query)
        else:
            self._note_progress(self._query)
            self._plan_restart(self._query)

    def stop(self) -> None:
        """End the query; what it has read and not committed is read again at the next start."""
        if self._query is not None:
            self._query.stop()

    def _start_if_due(self) -> None:
        if self._clock.monotonic_seconds() < self._start_at_seconds:
            return
        self._query = self._start(self._boundaries.begin())
        self._pulse.started(self._clock.monotonic_seconds())
        log.info("watch_started", watch=self._watch, run_id=str(self._query.runId))

    def _note_progress(self, query: StreamingQuery) -> None:
        batches = [read(progress) for progress in query.recentProgress]
        now = self._clock.monotonic_seconds()
        working = bool(query.status["isTriggerActive"] and query.status["isDataAvailable"])
        fresh = self._pulse.take(batches, working or bool(batches), now)
        for batch in fresh:
            count(self._watch, batch)
            _tell(self._watch, batch)
        self._boundaries.note(fresh)
        if working:
            self._boundaries.steer(query)
        metrics.PROGRESS_AGE.labels(self._watch).set(self._pulse.age_seconds(now))

    def _plan_restart(self, query: StreamingQuery) -> None:
        error = query.exception()
        metrics.FAILURES.labels(self._watch).inc()
        if error is not None and is_permanent(error):
            raise refusal(self._watch, error)
        wait_seconds = self._failures.next_wait_seconds(self._clock.monotonic_seconds())
        if wait_seconds is None:
            raise Transient(f"watch {self._watch} failed too often, last: {first_line(error)}")
        self._query = None
        self._start_at_seconds = self._clock.monotonic_seconds() + wait_seconds
        log.warning(
            "watch_failed",
            watch=self._watch,
            wait_seconds=round(wait_seconds, 1),
            reason=first_line(error),
        )


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
