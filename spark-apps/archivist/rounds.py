"""Rounds over all jobs, one after the other: archive, keep aside, account."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import StreamingQueryProgress
from pyspark.sql.streaming.query import StreamingQuery

from archivist import metrics
from archivist.account_run import AccountRun
from archivist.declaration import AccountDeclaration
from archivist.gaps import told
from archivist.headway import headway, work_done
from archivist.queries import archive_folder, start_archiving, start_rejecting
from archivist.settings import ArchivistSettings
from archivist.shelving import Shelver
from archivist.task import Task, Work, finish
from engine.events import MALFORMED, ROWS
from engine.restarts import Failures, RestartLimit
from services.backbone.log import logger
from services.backbone.progress import Progress
from services.backbone.service import Life
from services.contracts.streams import StreamDeclaration

log = logger(__name__)


@dataclass(frozen=True, slots=True)
class Scene:
    """What every job needs."""

    spark: SparkSession
    settings: ArchivistSettings
    life: Life
    progress: Progress
    """Beats while Spark's tasks go on, and with every batch and job that came to its end."""


class Rounds:
    """All jobs, and up to when each stream's archive is complete."""

    def __init__(
        self,
        scene: Scene,
        streams: Mapping[str, StreamDeclaration],
        accounts: Mapping[str, AccountDeclaration],
    ) -> None:
        self._scene = scene
        self._complete_until_ms: dict[str, int] = {}
        self._archive = {name: _archiving(scene, one) for name, one in streams.items()}
        self._reject = [_rejecting(scene, one) for one in streams.values()]
        self._accounts = [self._accounting(one, streams) for one in accounts.values()]

    def turn(self) -> None:
        """Do every job once; what cannot be done now is left to a later round.

        Raises:
            Transient: a job failed too often, or Java has ended.
            Refused: an account's bookmark holds no time, or a job met a gap too often.
        """
        for stream, task in self._archive.items():
            self._archive_one(stream, task)
        for task in [*self._reject, *self._accounts]:
            if task.turn():
                self._scene.progress.beat()

    def _archive_one(self, stream: str, task: Task) -> None:
        """Taken before the query asks for the newest offsets: all older records are among them."""
        slack_ms = int(self._scene.settings.archivist_clock_slack_seconds * 1000)
        begun_ms = self._scene.life.clock.now_ms() - slack_ms
        if task.turn():
            self._complete_until_ms[stream] = begun_ms
            metrics.COMPLETE_UNTIL.labels(stream).set(begun_ms / 1000)
            self._scene.progress.beat()

    def _accounting(
        self, account: AccountDeclaration, streams: Mapping[str, StreamDeclaration]
    ) -> Task:
        read = {name: streams[name] for name in account.streams}
        scene = self._scene
        run = AccountRun(scene.spark, scene.settings, account, read)

        def work() -> bool:
            known = [self._complete_until_ms.get(name) for name in account.streams]
            complete = [until_ms for until_ms in known if until_ms is not None]
            if len(complete) < len(known):
                return False
            run.judge(min(complete))
            return True

        return _task(scene, f"account {account.account}", work)


def _archiving(scene: Scene, stream: StreamDeclaration) -> Task:
    def count(rows: int, malformed: int) -> None:
        metrics.ARCHIVED.labels(stream.stream).inc(rows - malformed)

    def start() -> StreamingQuery:
        shelver.failure = None
        return start_archiving(scene.spark, scene.settings, stream, shelver)

    shelver = Shelver(scene.spark, archive_folder(scene.settings, stream))
    return _streaming(scene, f"archive {stream.stream}", start, count, lambda: shelver.failure)


def _rejecting(scene: Scene, stream: StreamDeclaration) -> Task:
    def count(_: int, malformed: int) -> None:
        metrics.REJECTED.labels(stream.stream).inc(malformed)

    start = partial(start_rejecting, scene.spark, scene.settings, stream)
    return _streaming(scene, f"rejected {stream.stream}", start, count)


def _streaming(
    scene: Scene,
    name: str,
    start: Callable[[], StreamingQuery],
    count: Callable[[int, int], None],
    failure: Callable[[], Exception | None] = lambda: None,
) -> Task:
    """`failure` tells why a query failed, where that is known better than Spark says it."""

    def on_batch(batch: StreamingQueryProgress) -> None:
        observed = [row.asDict() for row in batch.observedMetrics.values()]
        rows, malformed = (sum(row[part] or 0 for row in observed) for part in (ROWS, MALFORMED))
        if rows:
            count(rows, malformed)
            metrics.BATCHES.labels(name).inc()
            log.info("batch", job=name, batch=batch.batchId, rows=rows, malformed=malformed)
        scene.progress.beat()

    def work() -> bool:
        try:
            return finish(start(), scene.life, on_batch)
        except PySparkException as error:
            raise told(failure() or error, scene.settings, name) from None

    return _task(scene, name, work)


def _task(scene: Scene, name: str, work: Work) -> Task:
    at = scene.settings

    def watched() -> bool:
        with headway(partial(work_done, scene.spark), scene.progress, scene.life.clock):
            return work()

    limit = RestartLimit(at.archivist_restarts_max, at.archivist_restarts_window_seconds)
    failures = Failures(limit, random.Random())  # noqa: S311 - jitter, not secrecy
    return Task(name, watched, failures, scene.life)
