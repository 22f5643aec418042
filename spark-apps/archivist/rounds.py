"""Rounds over all jobs, one after the other: file each stream, then account."""

import random
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import StreamingQueryProgress

from archivist import metrics
from archivist.account_run import AccountRun
from archivist.declaration import AccountDeclaration
from archivist.earlier_query import (
    is_left,
    rejected_before,
    remove_checkpoint,
    start_rejecting_as_before,
)
from archivist.filing import Counts, Filing, Places
from archivist.gaps import told
from archivist.headway import headway, work_done
from archivist.queries import archive_folder, start_filing, write_aside
from archivist.settings import ArchivistSettings
from archivist.task import Task, Work, finish
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
        self._before = [
            _rejecting_as_before(scene, one)
            for one in streams.values()
            if is_left(rejected_before(scene.settings, one))
        ]
        self._accounts = [self._accounting(one, streams) for one in accounts.values()]

    def turn(self) -> None:
        """Do every job once; what cannot be done now is left to a later round.

        Raises:
            Transient: a job failed too often, or Java has ended.
            Refused: an account's bookmark holds no time, or a job met a gap too often.
        """
        for stream, task in self._archive.items():
            self._archive_one(stream, task)
        for task in [*self._before, *self._accounts]:
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
    name, filing = f"archive {stream.stream}", Filing(stream, _places(scene.settings, stream))

    def on_batch(batch: StreamingQueryProgress) -> None:
        held = filing.counts(batch.batchId)
        if held.rows:
            _count(stream.stream, held)
            metrics.BATCHES.labels(name).inc()
            log.info("batch", job=name, batch=batch.batchId, **asdict(held))
        scene.progress.beat()

    def work() -> bool:
        filing.failure = None
        query = start_filing(scene.spark, scene.settings, stream, filing)
        return finish(query, scene.life, on_batch)

    return _reading(scene, name, work, lambda: filing.failure)


def _places(settings: ArchivistSettings, stream: StreamDeclaration) -> Places:
    return Places(
        archive=archive_folder(settings, stream),
        files_per_batch=settings.archivist_files_per_batch,
        keep_aside=partial(write_aside, settings),
    )


def _count(stream: str, held: Counts) -> None:
    metrics.ARCHIVED.labels(stream).inc(held.rows - held.malformed)
    metrics.REJECTED.labels(stream).inc(held.malformed)


def _rejecting_as_before(scene: Scene, stream: StreamDeclaration) -> Task:
    """Let a version before's query come to its end; its checkpoint is there until it has."""
    name, checkpoint = f"rejected {stream.stream}", rejected_before(scene.settings, stream)

    def work() -> bool:
        if checkpoint.exists():
            query = start_rejecting_as_before(scene.spark, scene.settings, stream)
            if not finish(query, scene.life, lambda _: scene.progress.beat()):
                return False
            log.info("rejected_taken_over", stream=stream.stream)
        remove_checkpoint(checkpoint)
        return True

    return _reading(scene, name, work)


def _reading(
    scene: Scene, name: str, work: Work, failure: Callable[[], Exception | None] = lambda: None
) -> Task:
    """`failure` tells why a stream's query failed, where that is known better than Spark says."""

    def told_work() -> bool:
        try:
            return work()
        except PySparkException as error:
            raise told(failure() or error, scene.settings, name) from None

    return _task(scene, name, told_work)


def _task(scene: Scene, name: str, work: Work) -> Task:
    at = scene.settings

    def watched() -> bool:
        with headway(partial(work_done, scene.spark), scene.progress, scene.life.clock):
            return work()

    limit = RestartLimit(at.archivist_restarts_max, at.archivist_restarts_window_seconds)
    failures = Failures(limit, random.Random())  # noqa: S311 - jitter, not secrecy
    return Task(name, watched, failures, scene.life)
