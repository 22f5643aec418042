"""When a length is set in Spark, and that a Spark which takes none is left alone."""

from unittest.mock import create_autospec

from py4j.protocol import Py4JError
from pyspark.sql.streaming.query import StreamingQuery

from auditor.boundaries import Boundaries
from auditor.progress import Progress
from auditor.stagger import Phase
from services.backbone.clock import ManualClock

PHASE = Phase(60.0, 15.0)
PAUSE_SECONDS = 0.4


class Spark:
    """Runs batches as Spark does: one length holds until another is set."""

    def __init__(self, takes: bool = True) -> None:
        self.query = create_autospec(StreamingQuery, instance=True)
        self.takes = takes
        self.asked: list[float] = []
        self.clock = ManualClock()
        self.boundaries = Boundaries("w", PHASE, self._set, self.clock)
        self.length = self.boundaries.begin()
        self.clock.move(1.0)
        self._number = 0

    def _set(self, query: StreamingQuery, seconds: float) -> None:
        assert query is self.query
        self.asked.append(seconds)
        if not self.takes:
            raise Py4JError("no such field")

    def batch(self, look: bool = True) -> None:
        """Run one batch; somebody looks all the time, or nobody does."""
        running, asked = self.length, len(self.asked)
        for _ in range(20):
            self.clock.move(running / 20)
            if look:
                self.boundaries.steer(self.query)
        if self.takes and len(self.asked) > asked:
            self.length = self.asked[-1]
        self.clock.move(PAUSE_SECONDS)
        took = running + PAUSE_SECONDS
        ended_ms = self.clock.now_ms()
        batch = Progress(self._number, 0, 0, 0, 0, 0, 0, 0, 0, 0.0, took, ended_ms)
        self._number += 1
        self.boundaries.note([batch])

    def error(self) -> float:
        return abs(PHASE.error_seconds(self.clock.now_ms() / 1000))


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


def test_a_spark_that_takes_no_length_is_asked_once() -> None:
    spark = Spark(takes=False)
    for _ in range(5):
        spark.batch()
    assert len(spark.asked) == 1
