"""One job of the archivist: done again and again; its failures hold up no other job."""

from collections.abc import Callable

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql.streaming.listener import StreamingQueryProgress
from pyspark.sql.streaming.query import StreamingQuery

from archivist import metrics
from archivist.gaps import Gap
from engine.failures import first_line
from engine.java import JAVA_GONE
from engine.restarts import Failures
from services.backbone.errors import Transient
from services.backbone.log import logger
from services.backbone.service import Life

LOOK_EVERY_SECONDS = 0.2

log = logger(__name__)

Work = Callable[[], bool]
"""Returns whether it came to its end; raises Spark's errors, `Gap`, those of a disk or a store."""


class Task:
    """Does its work when it is due."""

    def __init__(self, name: str, work: Work, failures: Failures, life: Life) -> None:
        self.name = name
        self._work = work
        self._failures = failures
        self._life = life
        self._not_before_seconds = 0.0
        # A counter that begins with its first failure would look as if none had come.
        metrics.FAILURES.labels(name)

    def turn(self) -> bool:
        """Do the work, unless a failure is too recent; return whether it was done.

        Raises:
            Transient: it failed too often, or Java has ended and nothing can be done any more.
            Gap: records are gone, and it has said so too often.
        """
        if self._life.stop.is_set() or self._now_seconds() < self._not_before_seconds:
            return False
        try:
            return self._work()
        except (PySparkException, Py4JError, OSError, Gap) as error:
            if not self._life.stop.is_set():
                self._failed(error)
            return False

    def _failed(self, error: Exception) -> None:
        if isinstance(error, JAVA_GONE):
            raise Transient(f"{self.name}: Java has ended ({first_line(error)})") from None
        metrics.FAILURES.labels(self.name).inc()
        wait_seconds = self._failures.next_wait_seconds(self._now_seconds())
        if wait_seconds is None:
            if isinstance(error, Gap):
                raise error
            raise Transient(f"{self.name} failed too often, last: {first_line(error)}")
        self._not_before_seconds = self._now_seconds() + wait_seconds
        reason, wait = first_line(error), round(wait_seconds, 1)
        log.warning("job_failed", job=self.name, wait_seconds=wait, reason=reason)

    def _now_seconds(self) -> float:
        return self._life.clock.monotonic_seconds()


def finish(
    query: StreamingQuery, life: Life, on_batch: Callable[[StreamingQueryProgress], None]
) -> bool:
    """Wait until a query has caught up, and tell of each batch; False where it was stopped before.

    Raises:
        PySparkException: the query failed.
    """
    told = -1
    active = True
    while active:
        active = query.isActive
        for progress in query.recentProgress:
            if progress.batchId > told:
                told = progress.batchId
                on_batch(progress)
        if active and life.clock.wait(life.stop, LOOK_EVERY_SECONDS):
            query.stop()
            return False
    if error := query.exception():
        raise error
    return True
