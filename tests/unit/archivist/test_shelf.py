"""The archive refuses what would lose events in silence."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from archivist.shelf import check_columns, check_history, stored
from services.backbone.errors import Refused
from tests.unit.auditor.batches import TRADES


def log(folder: Path, *batches: str) -> None:
    folder.mkdir(parents=True)
    for name in batches:
        (folder / name).touch()


@pytest.mark.spark
def test_an_archive_without_its_checkpoint_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    log(tmp_path / "archive" / "_spark_metadata", "8", "9.compact", ".10.crc")
    with pytest.raises(Refused, match=r"holds batches up to 9, .* only up to -1"):
        check_history(spark, str(tmp_path / "archive"), tmp_path / "checkpoint")
    log(tmp_path / "checkpoint" / "offsets", "8", "9", ".9.crc")
    check_history(spark, str(tmp_path / "archive"), tmp_path / "checkpoint")


@pytest.mark.spark
def test_a_new_place_is_taken(spark: SparkSession, tmp_path: Path) -> None:
    check_history(spark, str(tmp_path / "archive"), tmp_path / "checkpoint")


@pytest.mark.parametrize("name", ["date", "appended_at"])
def test_the_archives_own_columns_are_no_fields(name: str) -> None:
    stream = TRADES.model_copy(update={"fields": {**TRADES.fields, name: TRADES.fields["client"]}})
    with pytest.raises(Refused, match=name):
        check_columns(stream)


@pytest.mark.spark
def test_nothing_is_read_before_the_first_batch(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "date=2026-11-21").mkdir()
    (tmp_path / "date=2026-11-21" / "part-left-by-a-killed-batch.parquet").write_bytes(b"half")
    assert stored(spark, str(tmp_path), TRADES).count() == 0
