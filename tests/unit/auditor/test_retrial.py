"""What Spark does not explain is a record's only if nothing around it can be; no outage is."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from auditor.recovery.retrial import fails
from services.backbone.errors import Transient
from tests.unit.auditor.test_trouble import BLAMED
from tests.unit.rows import laid

UNKNOWN = "java.util.UnknownFormatConversionException: Conversion = 'q'"
OTHER = "java.lang.IllegalStateException: no such thing"


class Tries:
    """Runs of a query over records that may be bad, while an outage may last from one to another.

    Both fail in words that name nothing, the worst case.
    """

    def __init__(self, is_bad: bool, outage: range) -> None:
        self._is_bad = is_bad
        self._outage = outage
        self.seen: list[bool] = []

    def run(self, with_records: bool) -> Exception | None:
        self.seen.append(with_records)
        is_hit = len(self.seen) - 1 in self._outage or (self._is_bad and with_records)
        return Exception(UNKNOWN) if is_hit else None


def told(run: Callable[[bool], Exception | None]) -> bool | None:
    """Return None where it cannot be told."""
    try:
        return fails(run)
    except Transient:
        return None


@given(st.booleans(), st.integers(0, 4), st.integers(0, 4))
def test_good_records_are_blamed_for_no_outage_however_long(
    is_bad: bool, first: int, length: int
) -> None:
    tries = Tries(is_bad, range(first, first + length))
    found = told(tries.run)
    assert not (found and not is_bad)
    if not length:
        assert found == is_bad
    assert len(tries.seen) <= 3


class Says:
    """Fails with these words, one after the other, wherever the records are looked at."""

    def __init__(self, *texts: str) -> None:
        self._texts = list(texts)

    def run(self, with_records: bool) -> Exception | None:
        return Exception(self._texts.pop(0)) if with_records and self._texts else None


AROUND = [text for text, _ in BLAMED] + [
    "java.util.concurrent.TimeoutException: Cannot fetch record for offset 5 in 120000 millis",
    "java.net.ConnectException: Connection refused",
    "java.nio.channels.ClosedChannelException",
    "java.io.IOException: Input/output error",
    "java.lang.InternalError: a fault occurred in a recent unsafe memory access operation",
    "java.lang.NoClassDefFoundError: Could not initialize class org.xerial.snappy.Snappy",
    "[UNABLE_TO_ACQUIRE_MEMORY] Unable to acquire 9 bytes of memory. SQLSTATE: 53200",
    "[INTERNAL_ERROR_SHUFFLE] no block SQLSTATE: XX000",
    "[TASK_WRITE_FAILED] Task failed while writing rows to /tmp/x SQLSTATE: 58030",
    "[SPARK_JOB_CANCELLED] Job 5 cancelled as part of cancellation of all jobs SQLSTATE: XXKDA",
    "FetchFailed(BlockManagerId(1, 10.0.0.7, 7337), shuffleId=0)",
    "Connection to streaming shuffle writer 38 closed before java.lang.InterruptedException",
    "Cannot call methods on a stopped SparkContext.",
    "[KAFKA_DATA_LOSS.START_OFFSET_RESET] Starting offset was changed. SQLSTATE: 22000",
    "org.apache.kafka.clients.consumer.OffsetOutOfRangeException",
]


@pytest.mark.parametrize("text", AROUND)
def test_what_names_anything_around_is_tried_no_more(text: str) -> None:
    says = Says(text, text)
    assert told(says.run) is None
    assert told(says.run) is None, "one try was left"
    assert told(says.run) is False


def test_what_a_value_is_named_for_needs_no_second_try() -> None:
    assert told(Says("[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012").run)


def test_two_failures_that_are_not_alike_tell_nothing() -> None:
    assert told(Says(UNKNOWN, OTHER).run) is None
    assert told(Says(UNKNOWN, UNKNOWN.replace("'q'", "'z'")).run)


def test_what_works_at_the_second_try_has_no_bad_record() -> None:
    assert told(Says(UNKNOWN).run) is False


FAILING = [
    ("text RLIKE pattern", "(abc"),
    ("text LIKE pattern", r"C:\temp%"),
    ("size(str_to_map(pattern)) > 0", "a:1,a:2"),
    ("size(array_repeat(1, CAST(length(pattern) + 2147483640 AS INT))) > 1", "0123456"),
    ("format_string(pattern, 1) > ''", "%q"),
    ("date_format(timestamp_millis(id), pattern) > ''", "{"),
    ("from_utc_timestamp(timestamp_millis(id), pattern) IS NULL", "nowhere"),
]


@pytest.mark.spark
@pytest.mark.parametrize(("condition", "pattern"), FAILING)
def test_whatever_spark_says_of_a_value_the_record_is_found(
    spark: SparkSession, condition: str, pattern: str
) -> None:
    rows = laid(spark, [(0, pattern, "a")], "id BIGINT, pattern STRING, text STRING")

    def run(with_records: bool) -> Exception | None:
        read = rows if with_records else rows.where("id < 0")
        try:
            read.where(condition).write.format("noop").mode("overwrite").save()
        except (PySparkException, Py4JJavaError) as error:
            return error
        return None

    assert fails(run)
