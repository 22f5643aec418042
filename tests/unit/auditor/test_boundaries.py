"""When a length is set in Spark, and that a Spark which takes none is left alone."""

from pathlib import Path
from unittest.mock import create_autospec

import pytest
from py4j.protocol import Py4JError
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from auditor.batches.boundaries import Boundaries, set_length
from auditor.batches.progress import Progress
from auditor.batches.stagger import Phase
from auditor.queries.declared import read_watch
from auditor.queries.trial import over_nothing
from services.backbone.clock import ManualClock
from services.contracts.streams import load_streams
from tests.unit.auditor.batches import EXAMPLE

PHASE = Phase(60.0, 15.0)
CATCHING_UP, OF_THE_WATCH = Phase(10.0, 0.0), Phase(120.0, 45.0)
PAUSE_SECONDS = 0.4


class Spark:
    """Runs batches as Spark does: one length holds until another is set."""

    def __init__(self, takes: bool = True, phase: Phase = PHASE) -> None:
        self.query = create_autospec(StreamingQuery, instance=True)
        self.takes = takes
        self.phase = phase
        self.asked: list[float] = []
        self.clock = ManualClock()
        self.boundaries = Boundaries("w", phase, self._set, self.clock)
        self.length = self.boundaries.begin()
        self.clock.move(1.0)
        self._number = 0

    def _set(self, query: StreamingQuery, seconds: float) -> None:
        assert query is self.query
        self.asked.append(seconds)
        if not self.takes:
            raise Py4JError("no such field")

    def batch(self, look: bool = True, promoted_at: float | None = None) -> None:
        """Run one batch; somebody looks all the time, or nobody does.

        `promoted_at` is the part of the batch after which its query becomes that of its watch.
        """
        running, asked = self.length, len(self.asked)
        for step in range(20):
            if step / 20 == promoted_at:
                self._promote(OF_THE_WATCH)
            self.clock.move(running / 20)
            if look:
                self.boundaries.steer(self.query)
        if self.takes and len(self.asked) > asked:
            self.length = self.asked[-1]
        self.clock.move(PAUSE_SECONDS)
        took = running + PAUSE_SECONDS
        ended_ms = self.clock.now_ms()
        batch = Progress(self._number, 0, 0, 0, 0, 0, 0.0, took, ended_ms)
        self._number += 1
        self.boundaries.note([batch])

    def error(self) -> float:
        return abs(self.phase.error_seconds(self.clock.now_ms() / 1000))

    def _promote(self, phase: Phase) -> None:
        self.phase = phase
        self.boundaries.move("w", phase)


def test_each_batch_gets_its_length_once_in_its_second_half() -> None:
    spark = Spark()
    before = spark.clock.now_ms()
    spark.boundaries.steer(spark.query)
    assert spark.asked == []
    for number in range(1, 6):
        spark.batch()
        assert 1 <= len(spark.asked) <= number
    assert spark.error() < 0.2
    assert spark.clock.now_ms() - before > 4 * 60_000


def test_batches_that_nobody_looked_at_are_corrected_afterwards() -> None:
    spark = Spark()
    spark.batch()
    for _ in range(30):
        spark.batch(look=False)
    assert spark.error() > 1.0
    for _ in range(3):
        spark.batch()
    assert spark.error() < 0.2


@pytest.mark.parametrize("at", [0.0, 0.25, 0.5, 0.75, 0.95])
def test_a_rule_that_caught_up_ends_its_next_batch_at_the_phase_of_its_watch(at: float) -> None:
    spark = Spark(phase=CATCHING_UP)
    for _ in range(3):
        spark.batch()
    assert spark.length < 15
    spark.batch(promoted_at=at)
    assert spark.length > OF_THE_WATCH.period_seconds / 2 - 1
    for _ in range(3):
        spark.batch()
        assert spark.error() < 0.2


def test_a_spark_that_takes_no_length_is_asked_once() -> None:
    spark = Spark(takes=False)
    for _ in range(5):
        spark.batch()
    assert len(spark.asked) == 1


def test_a_watch_with_a_table_of_rules_is_told_its_length(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Beside the stream's the plan has a source that is none."""
    declared = read_watch(EXAMPLE, load_streams())
    stream = over_nothing(spark, declared).writeStream.format("kafka").outputMode("update")
    stream = stream.option("kafka.bootstrap.servers", "127.0.0.1:1")
    stream = stream.option("checkpointLocation", str(tmp_path))
    query = stream.trigger(realTime="5 seconds").start()  # type: ignore[call-overload] # PySpark's overloads lack it
    try:
        while not query.recentProgress:
            assert query.isActive, query.exception()
            query.awaitTermination(0.1)
        set_length(spark, query, 7.0)
    finally:
        query.stop()
