"""An account that takes for long is no standstill while Spark's tasks end; one that hangs is."""

import os
import threading
from collections.abc import Callable
from itertools import count, repeat
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from archivist import rounds
from archivist.declaration import AccountDeclaration, load_accounts
from archivist.headway import tasks_ended
from archivist.rounds import Rounds, Scene
from archivist.settings import SHIPPED_ACCOUNTS, ArchivistSettings
from services.backbone.clock import ManualClock
from services.backbone.progress import Progress
from services.backbone.service import Life
from services.machine.waiting import wait_until
from tests.unit.auditor.batches import STREAMS

LIMIT_SECONDS = 300.0
PATIENCE_SECONDS = 60.0


class LongAccount:
    """A round whose account takes ten times as long as anything may stand still."""

    def __init__(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, ended: Callable[[], object]
    ) -> None:
        self.clock = ManualClock()
        self.progress = Progress(self.clock, LIMIT_SECONDS)
        self.standstills: list[str | None] = []
        monkeypatch.setattr(rounds, "_archiving", self._done)
        monkeypatch.setattr(rounds, "_rejecting", self._done)
        monkeypatch.setattr(rounds, "tasks_ended", lambda _: ended())
        monkeypatch.setattr("archivist.account_run.AccountRun.judge", self._judge)
        settings = ArchivistSettings(archivist_state=folder)
        life = Life(clock=self.clock)
        scene = Scene(None, settings, life, self.progress)  # type: ignore[arg-type] # no Spark here
        self.rounds = Rounds(scene, STREAMS, accounts())

    def _done(self, scene: Scene, stream: Any) -> Any:
        return rounds._task(scene, stream.stream, lambda: True)  # noqa: SLF001 - a job that is done at once

    def _judge(self, *_: object) -> None:
        until = self.clock.monotonic_seconds() + 10 * LIMIT_SECONDS
        late = lambda: self.clock.monotonic_seconds() > until  # noqa: E731
        wait_until(late, PATIENCE_SECONDS, "nobody looks after the account")
        self.standstills.append(self.progress.stalled())


def accounts() -> dict[str, AccountDeclaration]:
    return load_accounts(SHIPPED_ACCOUNTS)


def test_an_account_whose_tasks_end_may_take_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = count()
    account = LongAccount(tmp_path, monkeypatch, lambda: next(numbers))
    account.rounds.turn()
    assert account.standstills == [None]


def test_an_account_that_hangs_is_a_standstill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    same = repeat(7)
    account = LongAccount(tmp_path, monkeypatch, lambda: next(same))
    account.rounds.turn()
    (told,) = account.standstills
    assert str(told).startswith("no turn for ")


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
    wait_until(lambda: tasks_ended(spark) != (), PATIENCE_SECONDS, "no stage began")
    for gate in gates:
        before = tasks_ended(spark)
        assert tasks_ended(spark) == before
        Path(gate).write_bytes(b"")
        wait_until(
            lambda before=before: tasks_ended(spark) != before,  # type: ignore[misc] # a default
            PATIENCE_SECONDS,
            "no task ended",
        )
    job.join()
