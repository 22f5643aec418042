"""Holds one watch's batch boundaries at their phase, by setting the length of every batch."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from auditor import metrics
from auditor.batches.progress import Progress
from auditor.batches.stagger import Phase, after_batch, begun, moved
from engine.java import each_of, jvm_of
from services.backbone.clock import Clock
from services.backbone.log import logger

_FIELD: Final = "realTimeModeDuration"
"""Where Spark keeps the length of a batch: an Option of milliseconds in each source's relation."""

SetLength = Callable[[StreamingQuery, float], None]
"""Sets how many seconds the batches of a running query read, from the next batch on."""

log = logger(__name__)


@dataclass(frozen=True, slots=True)
class BatchEnd:
    """A batch that is through."""

    batch: int
    read_until_seconds: float
    """When it stopped reading, by the wall clock; it may have read on for a moment longer."""


class Boundaries:
    """The course of one watch's batches; used by one thread."""

    def __init__(self, watch: str, phase: Phase, set_length: SetLength, clock: Clock) -> None:
        self._watch = watch
        self._phase = phase
        self._set_length = set_length
        self._clock = clock
        self._course = begun(phase, self._now())
        self._told_seconds = self._course.running_seconds
        self._given_up = False
        self.ended: BatchEnd | None = None
        """The last batch that has ended since the query was started."""

    def begin(self) -> float:
        """Note that the query starts now; return the length of its first batch in seconds."""
        self._course = begun(self._phase, self._now())
        self._told_seconds = self._course.running_seconds
        self.ended = None
        return self._told_seconds

    def move(self, watch: str, phase: Phase) -> None:
        """Hold the same run at another phase, under another name, from its next batch on."""
        self._watch, self._phase = watch, phase
        self._course = moved(phase, self._course)

    def note(self, batches: Iterable[Progress]) -> None:
        """Follow the batches that have ended since the last call."""
        for batch in batches:
            self._follow(batch)

    def steer(self, query: StreamingQuery) -> None:
        """Set the next batch's length, once the running batch has surely begun with its own.

        Spark has no call for it; without it batches end where chance puts them, which is no fault.
        """
        course = self._course
        begun_surely = self._now() > course.ended_seconds + course.running_seconds / 2
        if self._given_up or self._told_seconds == course.next_seconds or not begun_surely:
            return
        try:
            self._set_length(query, course.next_seconds)
        except Py4JError as error:
            self._given_up = True
            reason = str(error).split("\n", 1)[0]
            log.warning("boundaries_not_held", watch=self._watch, reason=reason)
        else:
            self._told_seconds = course.next_seconds

    def _follow(self, batch: Progress) -> None:
        ended = batch.ended_at_ms / 1000
        length = self._course.running_seconds
        pause = max(0.0, batch.took_seconds - length)
        self.ended = BatchEnd(batch.batch, ended - pause)
        self._course = after_batch(
            self._phase, self._course, batch.took_seconds, ended, self._told_seconds
        )
        error = self._phase.error_seconds(ended)
        metrics.BOUNDARY.labels(self._watch).observe(pause)
        metrics.PHASE_ERROR.labels(self._watch).set(error)
        log.info(
            "boundary",
            watch=self._watch,
            batch=batch.batch,
            length_seconds=round(length, 3),
            pause_seconds=round(pause, 3),
            phase_error_seconds=round(error, 3),
            parts_ms=dict(batch.parts_ms),
        )

    def _now(self) -> float:
        return self._clock.now_ms() / 1000


def set_length(spark: SparkSession, query: StreamingQuery, seconds: float) -> None:
    """Set how long the batches of a running query read, from the next batch on.

    Raises:
        Py4JError: this Spark keeps the length elsewhere.
    """
    jvm = jvm_of(spark)
    execution: Any = query._jsq.streamingQuery()  # noqa: SLF001 - Spark has no public way
    trigger = jvm.org.apache.spark.sql.execution.streaming.RealTimeTrigger
    # A detour that makes an Option of a long: Py4J itself would make it of an int.
    wanted = trigger.unapply(trigger.apply(f"{round(seconds * 1000)} milliseconds"))
    for leaf in each_of(execution.logicalPlan().collectLeaves()):
        # Beside a stream stand a table of rules, and the state that a book would begin with.
        if not leaf.isStreaming():
            continue
        relation = leaf.relation()
        field = relation.getClass().getDeclaredField(_FIELD)
        field.setAccessible(True)
        field.set(relation, wanted)
