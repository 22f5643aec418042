"""Words that Spark refuses leave a watch that ran with those before, over a restart too."""

from collections.abc import Iterable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Final

import pytest
from pyspark.sql import SparkSession

from auditor import job
from auditor.job import Scene, prepare
from auditor.queries.current import keep
from auditor.queries.declared import read_declarations
from auditor.settings import AuditorSettings
from auditor.watching import open_fleet, read_opening
from services.backbone.clock import ManualClock
from services.contracts.watches import SHIPPED_WATCHES
from tests.unit.declarations import copied

pytestmark = pytest.mark.spark

WATCH: Final = "over-purchase"
WORDS: Final = {
    "key": ("\nkey: [", "\nkey: [no_such_column, "),
    "labels": ("\nlabels: [", "\nlabels: [no_such_column, "),
    "summary": ('\nsummary: "', '\nsummary: "{no_such_column} '),
    "severity": ("\nseverity: critical", "\nseverity: {column: no_such_column}"),
}


class FakeBrokers:
    """Brokers that have every topic, and tell nothing of it."""

    def partition_counts(self, topics: Iterable[str]) -> dict[str, int]:
        return dict.fromkeys(topics, 1)

    def with_publishers_times(self, _: object) -> list[str]:
        return []


@pytest.mark.parametrize("part", WORDS)
def test_a_column_that_the_sql_does_not_return_stops_no_watch_at_a_restart(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    # The only questions of all this to brokers.
    monkeypatch.setattr(job, "asking", lambda *_: nullcontext(FakeBrokers()))
    streams, watches = copied(tmp_path, SHIPPED_WATCHES)
    settings = AuditorSettings(
        auditor_streams=streams, auditor_watches=watches, auditor_checkpoints=tmp_path / "kept"
    )
    before = read_declarations(streams, watches).watches[WATCH]
    keep(settings.checkpoints_here() / WATCH, before)
    path = watches / f"{WATCH}.yaml"
    assert WORDS[part][0] in path.read_text()
    path.write_text(path.read_text().replace(*WORDS[part]))

    opened = read_opening(settings)
    assert opened.first[WATCH] != before
    scene = Scene(spark, settings, ManualClock())
    fleet = open_fleet(scene, partial(prepare, scene), opened)
    assert fleet.running[WATCH].declared == before
    assert fleet.missing == {}
