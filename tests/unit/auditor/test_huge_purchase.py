"""The example of the page on watches does what its words say."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from services.contracts.watches import load_watch
from tests.unit.auditor.batches import Event, example_of_the_page, purchase, records, run

pytestmark = pytest.mark.spark


def found(spark: SparkSession, folder: Path, *events: Event) -> list[tuple[str, int]]:
    rows = records(spark, events)
    alerts = [alert for _, _, alert in run(spark, load_watch(example_of_the_page(folder)), rows)]
    return sorted({(alert.key["purchase"], alert.values["bought"]) for alert in alerts})


def test_each_huge_purchase_of_a_window_alerts(spark: SparkSession, tmp_path: Path) -> None:
    events = [
        purchase("first", "o1", 150_000),
        purchase("second", "o2", 120_000, 60_000),
        purchase("usual", "o3", 100_000, 120_000),
        purchase("third", "o4", 140_000, 180_000),
    ]
    expected = [("first", 150_000), ("second", 120_000), ("third", 140_000)]
    assert found(spark, tmp_path, *events) == expected


def test_a_copy_is_the_same_purchase(spark: SparkSession, tmp_path: Path) -> None:
    copies = [purchase("one", "o1", 150_000), purchase("one", "o1", 150_000, 60_000)]
    assert found(spark, tmp_path, *copies) == [("one", 150_000)]
