"""A job that takes for long is no standstill while Spark's tasks go on; one that hangs is."""

import os
import threading
from collections.abc import Callable, Iterator
from itertools import count, repeat
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import REGISTRY
from pyspark.sql import SparkSession

from archivist import rounds
from archivist.declaration import load_accounts
from archivist.headway import work_done
from archivist.rounds import Rounds, Scene
from archivist.settings import SHIPPED_ACCOUNTS, ArchivistSettings
from services.backbone.clock import ManualClock
from services.backbone.progress import Progress
from services.backbone.service import Life
from services.machine.waiting import wait_until
from tests.unit.auditor.batches import TRADES

LIMIT_SECONDS = 300.0
PATIENCE_SECONDS = 60.0
JOBS = ("_accounting", "_archiving")


class LongJob:
    """A round of which one job takes ten times as long as anything may stand still."""

    def __init__(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, job: str, done: Callable[[], object]
    ) -> None:
        self.clock = ManualClock()
        self.progress = Progress(self.clock, LIMIT_SECONDS)
        self.standstills: list[str | None] = []
        if job != "_archiving":
            monkeypatch.setattr(rounds, "_archiving", self._done)
        monkeypatch.setattr(rounds, "start_filing", lambda *_: None)
        monkeypatch.setattr(rounds, "work_done", lambda _: done())
        monkeypatch.setattr(rounds, "finish", self._takes_long)
        monkeypatch.setattr("archivist.account_run.AccountRun.judge", self._takes_long)
        settings = ArchivistSettings(archivist_state=folder)
        life = Life(clock=self.clock)
        scene = Scene(None, settings, life, self.progress)  # type: ignore[arg-type] # no Spark here
        accounts = load_accounts(SHIPPED_ACCOUNTS) if job == "_accounting" else {}
        self.rounds = Rounds(scene, {TRADES.stream: TRADES}, accounts)

    def _done(self, scene: Scene, stream: Any) -> Any:
        return rounds._task(scene, stream.stream, lambda: True)  # noqa: SLF001 - a job that is done at once

    def _takes_long(self, *_: object) -> bool:
        until = self.clock.monotonic_seconds() + 10 * LIMIT_SECONDS
        late = lambda: self.clock.monotonic_seconds() > until  # noqa: E731
        wait_until(late, PATIENCE_SECONDS, "nobody looks after the job")
        self.standstills.append(self.progress.stalled())
        return True


@pytest.mark.parametrize("name", JOBS)
def test_a_job_whose_tasks_go_on_may_take_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    numbers = count()
    job = LongJob(tmp_path, monkeypatch, name, lambda: next(numbers))
    job.rounds.turn()
    assert job.standstills == [None]


@pytest.mark.parametrize("name", JOBS)
def test_a_job_that_hangs_is_a_standstill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    same = repeat(7)
    job = LongJob(tmp_path, monkeypatch, name, lambda: next(same))
    job.rounds.turn()
    (told,) = job.standstills
    assert str(told).startswith("no turn for ")


def test_what_came_while_a_stream_was_filed_is_not_called_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = count()
    job = LongJob(tmp_path, monkeypatch, "_archiving", lambda: next(numbers))
    begun_ms = job.clock.now_ms()
    job.rounds.turn()
    slack_seconds = ArchivistSettings().archivist_clock_slack_seconds
    complete_until = REGISTRY.get_sample_value(
        "aldebaran_archivist_complete_until_timestamp_seconds", {"stream": TRADES.stream}
    )
    assert complete_until == begun_ms / 1000 - slack_seconds


@pytest.mark.spark
def test_a_task_that_ended_is_seen_while_others_of_its_job_go_on(
    spark: SparkSession, tmp_path: Path
) -> None:
    gates = [str(tmp_path / str(number)) for number in range(3)]
    for gate in gates:
        os.mkfifo(gate)
    tasks = spark.sparkContext.parallelize(gates, len(gates))
    job = threading.Thread(target=tasks.map(lambda gate: Path(gate).read_bytes()).collect)
    job.start()
    wait_until(lambda: work_done(spark)[0] != (), PATIENCE_SECONDS, "no stage began")
    for gate in gates:
        before = work_done(spark)
        assert work_done(spark) == before
        Path(gate).write_bytes(b"")
        wait_until(
            lambda before=before: work_done(spark) != before,  # type: ignore[misc] # a default
            PATIENCE_SECONDS,
            "no task ended",
        )
    job.join()


@pytest.mark.spark
def test_what_an_only_task_has_written_is_seen_before_it_ends(
    spark: SparkSession, tmp_path: Path
) -> None:
    gates = [str(tmp_path / name) for name in ("first", "last")]
    for gate in gates:
        os.mkfifo(gate)

    def lines(_: object) -> Iterator[str]:
        Path(gates[0]).read_bytes()
        yield from repeat("x" * 100, 100_000)
        Path(gates[1]).read_bytes()

    written = spark.sparkContext.parallelize([0], 1).mapPartitions(lines).saveAsTextFile
    job = threading.Thread(target=written, args=(str(tmp_path / "written"),))
    before = work_done(spark)
    job.start()
    wait_until(lambda: work_done(spark)[0] != before[0], PATIENCE_SECONDS, "no stage began")
    begun = work_done(spark)
    Path(gates[0]).write_bytes(b"")
    wait_until(lambda: work_done(spark) != begun, PATIENCE_SECONDS, "nothing was written")
    Path(gates[1]).write_bytes(b"")
    job.join()
