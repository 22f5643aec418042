"""Starts a watch's query, and again after failures; what one watch suffers stops no other."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Protocol

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql.streaming.query import StreamingQuery

from auditor import metrics
from auditor.batches.boundaries import Boundaries
from auditor.batches.progress import Progress, Pulse, count, read
from auditor.batches.stagger import Phase
from auditor.cost import Cost
from auditor.queries.declared import Declared
from auditor.queries.refusals import refusal
from auditor.recovery.blame import RowsToBlame
from auditor.trouble import Failure, Trouble, judge
from auditor.underway import UnderWay
from engine.failures import first_line
from engine.restarts import Failures
from services.backbone.clock import Clock
from services.backbone.errors import Ended, Refused, Transient
from services.backbone.log import logger

SUSPECT_AFTER: Final = 3
"""Unknown failures in a row, without a batch between them, after which the cause is looked for."""
REMEDY_SECONDS_MAX: Final = 600.0
"""A remedy that takes longer is broken off, and tried again after the next failure."""
LEFT_SECONDS_MAX: Final = 300.0
"""A remedy that goes on for so long after that ends the program: nothing else would end it."""
STOP_SECONDS_MAX: Final = 5.0
"""How long a watch that is stopped waits for its remedy, which ends with the process at last."""

log = logger(__name__)


class Remedies(Protocol):
    """What helps one watch besides waiting; each may raise Transient, and is then tried again.

    Each is called on a thread of its own, one at a time, and `break_off` meanwhile.
    """

    def break_off(self) -> None:
        """Let what is done now end soon, with Transient; called again until it has ended."""

    def spare(self, failure: Failure) -> None:
        """Find the record that the SQL fails on, keep it aside and read past it from now on.

        Raises:
            RowsToBlame: its table of rules is, and with the rows before that it works.
            Refused: no single record is to blame, or there were too many.
        """

    def suspect(self, failure: Failure) -> None:
        """Find out what an unknown failure comes from that keeps the query from its first batch.

        Raises:
            Refused: only a person can help.
        """

    def accept_loss(self, failure: Failure) -> None:
        """Count the records that are gone, and go on without them at the next start.

        Raises:
            Refused: the settings say that a person decides.
        """

    def rebuild(self, failure: Failure) -> None:
        """Set the checkpoint aside, so that the next start begins with the oldest kept event.

        Raises:
            Refused: this happened too often.
        """


@dataclass(frozen=True, slots=True)
class Watched:
    """What supervision needs to know of one watch."""

    name: str
    start: Callable[[float], StreamingQuery]
    """Starts the query; its first batch reads for so many seconds."""
    remedies: Remedies


class Supervised:
    """One watch's query under supervision; `look` is called again and again by one thread.

    Trouble never leaves `look`: the watch waits and is tried again, or it stops with a reason that
    `stopped` tells, and only a person can help. A remedy may take minutes, so it has a thread of
    its own: `look` never waits for it.
    """

    def __init__(
        self,
        watched: Watched,
        boundaries: Boundaries,
        pulse: Pulse,
        cost: Cost,
        failures: Failures,
        clock: Clock,
    ) -> None:
        self.watched = watched
        self.boundaries = boundaries
        self.pulse = pulse
        self.stopped: str | None = None
        """Why the watch does not run and will not by itself, or None."""
        self.earlier: Declared | None = None
        """What it can go back to, where it is stopped since the rows that it has now are bad."""
        self.has_worked = False
        """Whether a batch that read records has ended; one without any shows nothing."""
        self.failing: str | None = None
        """The last failure, while the watch failed too often lately; it is still tried."""
        self.standing: str | None = None
        """Why no query runs just now, while something is done for the watch or it waits."""
        self._cost = cost
        self._failures = failures
        self._clock = clock
        self._query: StreamingQuery | None = None
        self._remedy: UnderWay | None = None
        self._reason = ""
        self._start_at_seconds = 0.0
        self._without_batch = 0

    def call(self, name: str, phase: Phase) -> None:
        """Show this watch under another name, and end its batches at another phase from now on."""
        self.watched = replace(self.watched, name=name)
        self.boundaries.move(name, phase)

    def look(self) -> None:
        """Start the query if it is due, note its progress, or see to its failure.

        Raises:
            Ended: a remedy or a query cannot be brought to an end; a new process can go on in its
                place.
        """
        if self._query is not None:
            self._look_at(self._query)
        elif self._remedy is not None:
            self._follow(self._remedy)
        elif self.stopped is None:
            self._start_if_due()
        name = self.watched.name
        metrics.PROGRESS_AGE.labels(name).set(self.pulse.age_seconds(self._clock.awake_seconds()))
        if self._query is None:
            metrics.idle(name)

    def not_ready(self) -> str | None:
        """Say why a watch that is not stopped judges nothing just now."""
        if (why := self.standing) is not None:
            return f"watch {self.watched.name} stands still: {why}"
        return self.pulse.not_ready()

    def comes_to_rest(self) -> bool:
        """Break off what is done for this watch; return whether nothing is, so `stop` is quick."""
        if self._remedy is None or self._remedy.is_over():
            return True
        self.watched.remedies.break_off()
        return False

    def stop(self) -> None:
        """End the query; what it has read and not committed is read again at the next start.

        Raises:
            Ended: it cannot be stopped.
        """
        if not self.comes_to_rest() and not self.settles(STOP_SECONDS_MAX):
            log.warning("remedy_left_behind", watch=self.watched.name)
        self._end_query()

    def settles(self, wait_seconds: float) -> bool:
        """Return whether no remedy is under way, now or within so many seconds."""
        return self._remedy is None or self._remedy.is_over(wait_seconds)

    def _look_at(self, query: StreamingQuery) -> None:
        self._note_progress(query)
        if not query.isActive:
            error = query.exception()
            self._query = None
            self._see_to(error)
        elif silence := self.pulse.dead(self._clock.awake_seconds()):
            self._end_query()
            self._wait(silence)

    def _start_if_due(self) -> None:
        if self._clock.monotonic_seconds() < self._start_at_seconds:
            return
        try:
            self._query = self.watched.start(self.boundaries.begin())
        except Refused as error:
            self._stop(str(error))
        except Transient as error:
            self._wait(str(error))
        except (PySparkException, Py4JJavaError) as error:
            self._see_to(error)
        else:
            run_id = str(self._query.runId)
            self.pulse.started(self._clock.awake_seconds())
            self.standing = None
            self._cost.begin(run_id, self._clock.monotonic_seconds())
            log.info("watch_started", watch=self.watched.name, run_id=run_id)

    def _note_progress(self, query: StreamingQuery) -> None:
        name = self.watched.name
        batches = self._new_batches(query)
        working = bool(query.status["isTriggerActive"] and query.status["isDataAvailable"])
        fresh = self.pulse.take(batches, working or bool(batches), self._clock.awake_seconds())
        for batch in fresh:
            self.failing, self._without_batch = None, 0
            self.has_worked = self.has_worked or batch.rows > 0
            count(name, batch)
            _tell(name, batch)
        self.boundaries.note(fresh)
        if working:
            self.boundaries.steer(query)
        now = self._clock.monotonic_seconds()
        if (processors := self._cost.processors(bool(fresh), now)) is not None:
            metrics.PROCESSORS.labels(name).set(processors)

    def _new_batches(self, query: StreamingQuery) -> list[Progress]:
        """Ask for all reports only where the last one is new: Java writes out each at every ask."""
        last = query.lastProgress
        if last is None or not self.pulse.is_new(last.batchId):
            return []
        return [read(progress) for progress in query.recentProgress]

    def _end_query(self) -> None:
        """One that cannot even be stopped ends the program, and is not tried once more then."""
        query, self._query = self._query, None
        if query is None:
            return
        try:
            query.stop()
        except (PySparkException, Py4JJavaError) as error:
            name, reason = self.watched.name, first_line(error)
            raise Ended(f"watch {name}: its query cannot be stopped: {reason}") from None

    def _see_to(self, error: Exception | None) -> None:
        self._without_batch += 1
        failure = Failure.of(error)
        reason, trouble = failure.reason, judge(failure.text)
        log.warning("watch_failed", watch=self.watched.name, trouble=trouble.value, reason=reason)
        if trouble is Trouble.REFUSED:
            self._stop(str(refusal(self.watched.name, error or Exception(reason))))
        elif (remedy := self._remedy_for(trouble)) is None:
            self._wait(reason)
        else:
            now, name = self._clock.monotonic_seconds(), f"remedy {self.watched.name}"
            self._remedy, self._reason = UnderWay(name, partial(remedy, failure), now), reason
            self.standing = reason

    def _remedy_for(self, trouble: Trouble) -> Callable[[Failure], None] | None:
        remedies = self.watched.remedies
        match trouble:
            case Trouble.RECORD:
                return remedies.spare
            case Trouble.LOST_RECORDS:
                return remedies.accept_loss
            case Trouble.CHECKPOINT:
                return remedies.rebuild
            case Trouble.OUTSIDE if self._without_batch >= SUSPECT_AFTER:
                return remedies.suspect
            case _:
                return None

    def _follow(self, remedy: UnderWay) -> None:
        if not remedy.is_over():
            self._hold_to_its_time(remedy)
            return
        self._remedy = None
        try:
            remedy.outcome()
        except RowsToBlame as blamed:
            self.earlier = blamed.earlier
            self._stop(str(blamed))
        except Refused as refused:
            self._stop(str(refused))
        except Transient as transient:
            self._wait(str(transient))
        else:
            self._wait(self._reason)

    def _hold_to_its_time(self, remedy: UnderWay) -> None:
        seconds = self._clock.monotonic_seconds() - remedy.since_seconds
        if seconds > REMEDY_SECONDS_MAX + LEFT_SECONDS_MAX:
            raise Ended(f"watch {self.watched.name}: a remedy goes on after it was broken off")
        if seconds > REMEDY_SECONDS_MAX:
            self.watched.remedies.break_off()

    def _wait(self, reason: str) -> None:
        metrics.FAILURES.labels(self.watched.name).inc()
        now = self._clock.monotonic_seconds()
        wait_seconds = self._failures.next_wait_seconds(now)
        if wait_seconds is None:
            self.failing = reason
            wait_seconds = self._failures.longest_wait_seconds
        self._start_at_seconds, self.standing = now + wait_seconds, reason
        log.warning(
            "watch_waits",
            watch=self.watched.name,
            wait_seconds=round(wait_seconds, 1),
            reason=reason,
        )

    def _stop(self, reason: str) -> None:
        metrics.FAILURES.labels(self.watched.name).inc()
        metrics.STOPPED.labels(self.watched.name).set(1)
        self.stopped, self.failing, self.standing = reason, None, None
        log.error("watch_stopped", watch=self.watched.name, reason=reason)


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
