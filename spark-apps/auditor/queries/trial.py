"""Asks Spark whether it would run a watch in Real-time Mode: no brokers, no effects."""

import json
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.listener import StreamingQueryProgress
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from auditor.queries.declared import Declared
from auditor.queries.query import messages_of, rows_of
from auditor.queries.refusals import judgement
from engine.java import jvm_of, session_of
from engine.scratch import scratch
from services.backbone.clock import Clock
from services.backbone.errors import Refused, Transient
from services.contracts.fields import HEARTBEAT_PREFIX
from services.contracts.topics import ALERTS, heartbeat
from services.contracts.watches import BEAT, BEAT_LENGTH, WatchDeclaration

DEADLINE_SECONDS: Final = 120.0
_LOOK_EVERY_SECONDS: Final = 0.05
_RECORDS: Final = "value binary, timestamp timestamp, topic string, partition int"
_BEAT_ID: Final = HEARTBEAT_PREFIX.ljust(BEAT_LENGTH, "0")
_NOBODY: Final = "127.0.0.1:1"
"""A sink needs an address; without rows nothing is ever sent there."""


def try_out(
    spark: SparkSession,
    declared: Declared,
    clock: Clock,
    broken_off: threading.Event | None = None,
) -> None:
    """Run the watch over empty streams in memory until its first batch has ended.

    Raises:
        Refused: Spark does not take it; the message says what to do.
        Transient: Spark did not answer in time, what it needs for a trial is not there, or
            `broken_off` was set.
    """
    messages = over_nothing(_apart(spark), declared)
    _run(declared.name, partial(_in_real_time, messages), clock, broken_off)


def try_beats(
    spark: SparkSession,
    declared: Declared,
    clock: Clock,
    broken_off: threading.Event | None = None,
) -> None:
    """Run the watch over one heartbeat, and refuse it if people would be told of that.

    One that is not found is taken: it may be at another hour, or with other rules.

    Raises:
        Refused: people would be told; or the SQL fails on the heartbeat.
        Transient: as of `try_out`.
    """
    if (watch := declared.watch).heartbeat is None:
        return
    apart = _apart(spark)

    def records(stream: str) -> DataFrame:
        return _memory(apart, _beats(apart, watch, stream, clock))

    alerts = F.count_if(F.col("topic") == ALERTS).alias(ALERTS)
    messages = messages_of(apart, declared, records, "trial").observe(ALERTS, alerts)
    batches = _run(declared.name, partial(_in_a_batch, messages), clock, broken_off)
    # Where the SQL reads no stream that has some there is no batch, or one that observes nothing.
    observed = [each.observedMetrics[ALERTS] for each in batches if ALERTS in each.observedMetrics]
    if any(row[ALERTS] for row in observed):
        raise Refused(
            f"watch {watch.watch}: its heartbeat would alert people, as no column of the key "
            f"({', '.join(watch.key)}) then begins with {BEAT}; let the SQL return one that does, "
            "and list it under `key`"
        )


def _apart(spark: SparkSession) -> SparkSession:
    apart = spark.newSession()
    apart.conf.set("spark.sql.streaming.realTimeMode.minBatchDuration", "100")
    apart.conf.set("spark.sql.shuffle.partitions", "1")
    return apart


def _run(
    name: str,
    start: Callable[[str], StreamingQuery],
    clock: Clock,
    broken_off: threading.Event | None,
) -> list[StreamingQueryProgress]:
    """Run a query, which `start` begins with a checkpoint's folder, until a batch has ended."""
    with scratch("trial", clock) as folder:
        try:
            query = start(folder)
        except (PySparkException, Py4JJavaError) as error:
            raise judgement(name, error) from None
        try:
            _wait(query, name, clock, broken_off or threading.Event())
        finally:
            query.stop()
        return query.recentProgress


def over_nothing(spark: SparkSession, declared: Declared) -> DataFrame:
    """Return the messages of a watch over streams that never have a record.

    Raises:
        Refused: the SQL, or what it returns, does not fit.
        Transient: what Spark needs for it is not there just now, as memory.
    """
    return messages_of(spark, declared, lambda _: _memory(spark), "trial")


def rows_over_nothing(spark: SparkSession, declared: Declared) -> DataFrame:
    """Return what the SQL of a watch finds over such streams; raises as `over_nothing`."""
    return rows_of(spark, declared, lambda _: _memory(spark))


def _in_real_time(messages: DataFrame, folder: str) -> StreamingQuery:
    writer = _updates(messages, folder).format("kafka")
    writer = writer.option("kafka.bootstrap.servers", _NOBODY)
    query: StreamingQuery = writer.trigger(realTime="200 milliseconds").start()  # type: ignore[call-overload] # PySpark's overloads lack it
    return query


def _in_a_batch(messages: DataFrame, folder: str) -> StreamingQuery:
    """Real-time Mode reads for so long, however little it has read by then."""
    return _updates(messages, folder).format("noop").trigger(availableNow=True).start()


def _updates(messages: DataFrame, folder: str) -> DataStreamWriter:
    return messages.writeStream.option("checkpointLocation", folder).outputMode("update")


def _wait(query: StreamingQuery, name: str, clock: Clock, broken_off: threading.Event) -> None:
    end = clock.monotonic_seconds() + DEADLINE_SECONDS
    while query.isActive and not query.recentProgress:
        if clock.monotonic_seconds() > end:
            raise Transient(f"watch {name}: Spark took too long to try it")
        if broken_off.is_set():
            raise Transient(f"watch {name}: its trial was broken off")
        clock.wait(broken_off, _LOOK_EVERY_SECONDS)
    if (error := query.exception()) is not None:
        raise judgement(name, error)


def _memory(spark: SparkSession, rows: Sequence[Sequence[Any]] = ()) -> DataFrame:
    """Return a stream of these rows only; Spark takes it for a source of Real-time Mode."""
    jvm = jvm_of(spark)
    sql, listed = jvm.org.apache.spark.sql, jvm.org.apache.spark.api.python.PythonUtils.toSeq
    encoder = sql.Encoders.row(sql.types.StructType.fromDDL(_RECORDS))
    package = sql.execution.streaming.sources
    companion = getattr(package, "LowLatencyMemoryStream$")
    stream = getattr(companion, "MODULE$").apply(session_of(spark), 1, encoder)
    if rows:
        stream.addData(listed([sql.Row.fromSeq(listed(row)) for row in rows]))
    return DataFrame(stream.toDF(), spark)


def _beats(
    spark: SparkSession, watch: WatchDeclaration, stream: str, clock: Clock
) -> list[list[Any]]:
    now = jvm_of(spark).java.sql.Timestamp(clock.now_ms())
    events = [event for name, event in watch.beat_events(_BEAT_ID) if name == stream]
    return [[json.dumps(event).encode(), now, heartbeat(stream), 0] for event in events]
