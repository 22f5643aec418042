"""Tells of progress while somebody waits for Spark: tasks end one after the other, or it hangs.

A query that is waited for says nothing until it is through, which may take longer than anything
may stand still; the health page would have it killed, and it would begin anew for ever.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from services.backbone.clock import Clock
from services.backbone.log import logger
from services.backbone.progress import Progress

LOOK_EVERY_SECONDS: Final = 5.0

log = logger(__name__)


def tasks_ended(spark: SparkSession) -> tuple[tuple[int, int, int], ...]:
    """Return stage, attempt and ended tasks of what runs now: it changes as long as tasks end."""
    tracker = spark.sparkContext.statusTracker()
    stages = map(tracker.getStageInfo, sorted(tracker.getActiveStageIds()))
    return tuple(
        (stage.stageId, stage.currentAttemptId, stage.numCompletedTasks)
        for stage in stages
        if stage is not None
    )


@contextmanager
def headway(ended: Callable[[], object], progress: Progress, clock: Clock) -> Iterator[None]:
    """Beat, until the block is left, whenever what `ended` returns has changed."""
    over = threading.Event()
    follow = threading.Thread(
        target=_follow, args=(ended, progress, clock, over), name="headway", daemon=True
    )
    follow.start()
    try:
        yield
    finally:
        over.set()
        follow.join()


def _follow(
    ended: Callable[[], object], progress: Progress, clock: Clock, over: threading.Event
) -> None:
    seen: object = None
    while not clock.wait(over, LOOK_EVERY_SECONDS):
        try:
            now = ended()
        except Py4JError as error:
            log.warning("headway_not_seen", reason=str(error).split("\n", 1)[0])
            continue
        if now != seen:
            seen = now
            progress.beat()
