"""Starts a watch's query, and again after failures; what one watch suffers stops no other."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Protocol

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql.streaming.query import StreamingQuery

from auditor import metrics
from auditor.batches.following import Batches
from auditor.batches.stagger import Phase
from auditor.queries.declared import Declared
from auditor.queries.refusals import refusal
from auditor.recovery.blame import RowsToBlame
from auditor.states import Mended, Reads, Record, State, Stopped, Waits, standing
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
        self, watched: Watched, batches: Batches, failures: Failures, clock: Clock
    ) -> None:
        self.watched = watched
        self.batches = batches
        self.state: State = Waits()
        """Set anew at each look; the health page's thread may read it."""
        self.record = Record()
        self._failures = failures
        self._clock = clock

    @property
    def stopped(self) -> str | None:
        """Why the watch does not run and will not by itself, or None."""
        state = self.state
        return state.reason if isinstance(state, Stopped) else None

    def call(self, name: str, phase: Phase) -> None:
        """Show this watch under another name, and end its batches at another phase from now on."""
        self.watched = replace(self.watched, name=name)
        self.batches.call(name, phase)

    def look(self) -> None:
        """Start the query if it is due, note its progress, or see to its failure.

        Raises:
            Ended: a remedy or a query cannot be brought to an end; a new process can go on in its
                place.
        """
        match self.state:
            case Reads() as reads:
                self.state = self._read_on(reads)
            case Mended() as mended:
                self.state = self._follow(mended)
            case Waits() as waits if self._clock.monotonic_seconds() >= waits.start_at_seconds:
                self.state = self._start()
            case Waits() | Stopped():
                pass
        self.batches.show_age()
        if not isinstance(self.state, Reads):
            metrics.idle(self.watched.name)

    def not_ready(self) -> str | None:
        """Say why a watch that is not stopped judges nothing just now."""
        if (why := standing(self.state)) is not None:
            return f"watch {self.watched.name} stands still: {why}"
        return self.batches.not_ready()

    def comes_to_rest(self) -> bool:
        """Break off what is done for this watch; return whether nothing is, so `stop` is quick."""
        if self.settles(0):
            return True
        self.watched.remedies.break_off()
        return False

    def settles(self, wait_seconds: float) -> bool:
        """Return whether no remedy is under way, now or within so many seconds."""
        state = self.state
        return not isinstance(state, Mended) or state.remedy.is_over(wait_seconds)

    def stop(self) -> None:
        """End the query; what it has read and not committed is read again at the next start.

        Raises:
            Ended: it cannot be stopped.
        """
        if not self.comes_to_rest() and not self.settles(STOP_SECONDS_MAX):
            log.warning("remedy_left_behind", watch=self.watched.name)
        if isinstance(self.state, Reads):
            self._end(self.state.query)

    def _end(self, query: StreamingQuery) -> None:
        """One that cannot even be stopped ends the program, and is not tried once more then."""
        self.state = Waits()
        try:
            query.stop()
        except (PySparkException, Py4JJavaError) as error:
            name, reason = self.watched.name, first_line(error)
            raise Ended(f"watch {name}: its query cannot be stopped: {reason}") from None

    def _start(self) -> State:
        try:
            query = self.watched.start(self.batches.begin())
        except Refused as error:
            return self._stopped(str(error))
        except Transient as error:
            return self._waits(str(error))
        except (PySparkException, Py4JJavaError) as error:
            return self._see_to(error)
        self.batches.started(query)
        return Reads(query)

    def _read_on(self, reads: Reads) -> State:
        for batch in self.batches.take(reads.query):
            self.record = self.record.after_batch(batch.rows)
        if not reads.query.isActive:
            return self._see_to(reads.query.exception())
        if silence := self.batches.silence():
            self._end(reads.query)
            return self._waits(silence)
        return reads

    def _see_to(self, error: Exception | None) -> Waits | Mended | Stopped:
        self.record = self.record.after_failure()
        failure, name = Failure.of(error), self.watched.name
        reason, trouble = failure.reason, judge(failure.text)
        log.warning("watch_failed", watch=name, trouble=trouble.value, reason=reason)
        if trouble is Trouble.REFUSED:
            return self._stopped(str(refusal(name, error or Exception(reason))))
        remedy = remedy_for(trouble, self.record.without_batch, self.watched.remedies)
        if remedy is None:
            return self._waits(reason)
        now = self._clock.monotonic_seconds()
        return Mended(UnderWay(f"remedy {name}", partial(remedy, failure), now), reason)

    def _follow(self, mended: Mended) -> Waits | Mended | Stopped:
        if not mended.remedy.is_over():
            self._hold_to_its_time(mended.remedy)
            return mended
        try:
            mended.remedy.outcome()
        except RowsToBlame as blamed:
            return self._stopped(str(blamed), blamed.earlier)
        except Refused as refused:
            return self._stopped(str(refused))
        except Transient as transient:
            return self._waits(str(transient))
        return self._waits(mended.reason)

    def _hold_to_its_time(self, remedy: UnderWay) -> None:
        seconds = self._clock.monotonic_seconds() - remedy.since_seconds
        if seconds > REMEDY_SECONDS_MAX + LEFT_SECONDS_MAX:
            raise Ended(f"watch {self.watched.name}: a remedy goes on after it was broken off")
        if seconds > REMEDY_SECONDS_MAX:
            self.watched.remedies.break_off()

    def _waits(self, reason: str) -> Waits:
        name, now = self.watched.name, self._clock.monotonic_seconds()
        seconds = self._failures.next_wait_seconds(now)
        if seconds is None:
            self.record = replace(self.record, failing=reason)
            seconds = self._failures.longest_wait_seconds
        metrics.FAILURES.labels(name).inc()
        log.warning("watch_waits", watch=name, wait_seconds=round(seconds, 1), reason=reason)
        return Waits(now + seconds, reason)

    def _stopped(self, reason: str, earlier: Declared | None = None) -> Stopped:
        name = self.watched.name
        self.record = replace(self.record, failing=None)
        metrics.FAILURES.labels(name).inc()
        metrics.STOPPED.labels(name).set(1)
        log.error("watch_stopped", watch=name, reason=reason)
        return Stopped(reason, earlier)


def remedy_for(
    trouble: Trouble, without_batch: int, remedies: Remedies
) -> Callable[[Failure], None] | None:
    """Return what to do about a failure, of so many without a batch; None where only time helps."""
    match trouble:
        case Trouble.RECORD:
            return remedies.spare
        case Trouble.LOST_RECORDS:
            return remedies.accept_loss
        case Trouble.CHECKPOINT:
            return remedies.rebuild
        case Trouble.OUTSIDE if without_batch >= SUSPECT_AFTER:
            return remedies.suspect
        case _:
            return None
