"""Only the days of an archive that are asked for are looked at."""

from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from archivist.shelf import stored
from archivist.shelving import shelve
from tests.unit.archivist.filed import once, over_days
from tests.unit.archivist.histories import archived
from tests.unit.auditor.batches import EPOCH, TRADES


@pytest.mark.spark
def test_only_the_days_that_are_asked_for_are_read(spark: SparkSession, tmp_path: Path) -> None:
    shelve(spark, str(tmp_path), archived(spark, over_days(range(6), days=6)), 0)
    (tmp_path / "date=2026-01-05" / "part-broken.parquet").write_bytes(b"not Parquet")
    days = [EPOCH.date() + timedelta(days=number) for number in (1, 2, 9)]
    rows = stored(spark, str(tmp_path), TRADES, days).collect()
    assert Counter(row["order_id"] for row in rows) == once(1, 2)
    assert {row["date"] for row in rows} == set(days[:2])


@pytest.mark.spark
def test_nothing_is_read_before_the_first_batch(spark: SparkSession, tmp_path: Path) -> None:
    assert stored(spark, str(tmp_path), TRADES, [EPOCH.date()]).count() == 0
