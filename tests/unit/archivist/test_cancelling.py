"""Whatever of Spark begins after the stop is broken off as well."""

import threading
import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from archivist import __main__ as archivist
from services.backbone.service import Life


@pytest.mark.spark
def test_each_query_after_the_stop_is_broken_off(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = tmp_path / "gate"

    def waits(_: object) -> None:
        while not gate.exists():
            time.sleep(0.05)

    monkeypatch.setattr(archivist, "quieten", lambda _: None)
    life, ended = Life(), threading.Event()
    canceller = archivist._cancel_at_stop(spark, life, ended)  # noqa: SLF001 - a part of main
    life.stop.set()
    for _ in range(2):
        with pytest.raises(Exception, match="cancelled"):
            spark.sparkContext.parallelize([0], 1).map(waits).collect()
    ended.set()
    canceller.join()
    gate.touch()
