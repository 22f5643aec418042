"""What a running query tells by metrics, which alarms rest on."""

from pathlib import Path

import pytest
from prometheus_client import REGISTRY
from pyspark.sql import SparkSession

from auditor.batches.progress import count, read
from tests.unit.auditor.batches import EPOCH, HOUR_MS, WATCHES, Stepwise, purchase

pytestmark = pytest.mark.spark

AHEAD_MS = 2 * HOUR_MS
WATERMARK_SECONDS = 600


@pytest.mark.parametrize("watch", sorted(WATCHES))
def test_a_brokers_clock_that_was_ahead_shows(
    spark: SparkSession, tmp_path: Path, watch: str
) -> None:
    steps = Stepwise(spark, WATCHES[watch], tmp_path)
    try:
        steps.take(purchase("ahead", "o1", 1, AHEAD_MS))
        steps.take(purchase("now", "o2", 1))
        batches = [read(progress) for progress in steps.query.recentProgress]
    finally:
        steps.query.stop()
    for batch in batches:
        count(f"ahead-{watch}", batch)
    reached_seconds = EPOCH.timestamp() + AHEAD_MS / 1000 - WATERMARK_SECONDS
    assert value("watermark_timestamp_seconds", watch) == reached_seconds
    # Its windows have ended, and a book takes whatever comes.
    assert (value("late_rows_total", watch) == 0) == (WATCHES[watch].book is not None)


def value(metric: str, watch: str) -> float | None:
    return REGISTRY.get_sample_value(f"aldebaran_auditor_{metric}", {"watch": f"ahead-{watch}"})
