"""Tells of progress while somebody waits for Spark: its tasks write and end, or it hangs.

A query that is waited for says nothing until it is through, which may take longer than anything
may stand still; the health page would have it killed, and it would begin anew for ever.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from engine.java import jvm_of
from services.backbone.clock import Clock
from services.backbone.log import logger
from services.backbone.progress import Progress

LOOK_EVERY_SECONDS: Final = 5.0

log = logger(__name__)


def work_done(spark: SparkSession) -> tuple[object, ...]:
    """Return how far what runs now has come: it changes as long as tasks end, read or write files.

    A batch may be a single task, of which a Spark in this process tells nothing before its end.
    """
    return (_tasks_ended(spark), _bytes_passed(spark))


def _tasks_ended(spark: SparkSession) -> tuple[tuple[int, int, int], ...]:
    tracker = spark.sparkContext.statusTracker()
    stages = map(tracker.getStageInfo, sorted(tracker.getActiveStageIds()))
    return tuple(
        (stage.stageId, stage.currentAttemptId, stage.numCompletedTasks)
        for stage in stages
        if stage is not None
    )


def _bytes_passed(spark: SparkSession) -> int:
    """Return what was read from disks and stores, and written there, by this Java since it runs."""
    counts = jvm_of(spark).org.apache.hadoop.fs.FileSystem.getAllStatistics()
    return sum(int(each.getBytesRead()) + int(each.getBytesWritten()) for each in counts)


@contextmanager
def headway(done: Callable[[], object], progress: Progress, clock: Clock) -> Iterator[None]:
    """Beat, until the block is left, whenever what `done` returns has changed."""
    over = threading.Event()
    follow = threading.Thread(
        target=_follow, args=(done, progress, clock, over), name="headway", daemon=True
    )
    follow.start()
    try:
        yield
    finally:
        over.set()
        follow.join()


def _follow(
    done: Callable[[], object], progress: Progress, clock: Clock, over: threading.Event
) -> None:
    seen: object = None
    while not clock.wait(over, LOOK_EVERY_SECONDS):
        try:
            now = done()
        except (Py4JError, OSError) as error:
            log.warning("headway_not_seen", reason=str(error).split("\n", 1)[0])
            continue
        if now != seen:
            seen = now
            progress.beat()
