"""Asks Spark whether it would run a watch in Real-time Mode: no brokers, no effects."""

import threading
from typing import Any, Final

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from auditor import guards
from auditor.declared import Declared
from auditor.query import messages_of
from engine.java import jvm_of
from engine.scratch import scratch
from services.backbone.clock import Clock
from services.backbone.errors import Transient

DEADLINE_SECONDS: Final = 120.0
_LOOK_EVERY_SECONDS: Final = 0.05
_RECORDS: Final = "value binary, timestamp timestamp, topic string, partition int, offset bigint"
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
    name, apart = declared.name, spark.newSession()
    apart.conf.set("spark.sql.streaming.realTimeMode.minBatchDuration", "100")
    apart.conf.set("spark.sql.shuffle.partitions", "1")
    with scratch("trial", clock) as folder:
        messages = over_nothing(apart, declared)
        try:
            query = _started(messages, folder)
        except (PySparkException, Py4JJavaError) as error:
            raise guards.judgement(name, error) from None
        try:
            _wait(query, name, clock, broken_off or threading.Event())
        finally:
            query.stop()


def over_nothing(spark: SparkSession, declared: Declared) -> DataFrame:
    """Return the messages of a watch over streams that never have a record.

    Raises:
        Refused: the SQL, or what it returns, does not fit.
        Transient: what Spark needs for it is not there just now, as memory.
    """
    return messages_of(spark, declared, lambda _: _empty(spark), "trial")


def _started(messages: DataFrame, folder: str) -> StreamingQuery:
    writer = (
        messages.writeStream.format("kafka")
        .option("kafka.bootstrap.servers", _NOBODY)
        .option("checkpointLocation", folder)
        .outputMode("update")
    )
    query: StreamingQuery = writer.trigger(realTime="200 milliseconds").start()  # type: ignore[call-overload] # PySpark's overloads lack it
    return query


def _wait(query: StreamingQuery, name: str, clock: Clock, broken_off: threading.Event) -> None:
    end = clock.monotonic_seconds() + DEADLINE_SECONDS
    while query.isActive and not query.recentProgress:
        if clock.monotonic_seconds() > end:
            raise Transient(f"watch {name}: Spark took too long to try it")
        if broken_off.is_set():
            raise Transient(f"watch {name}: its trial was broken off")
        clock.wait(broken_off, _LOOK_EVERY_SECONDS)
    if (error := query.exception()) is not None:
        raise guards.judgement(name, error)


def _empty(spark: SparkSession) -> DataFrame:
    """Return a stream that never has a record; Spark takes it for a source of Real-time Mode."""
    jvm = jvm_of(spark)
    java: Any = spark._jsparkSession  # noqa: SLF001 - PySpark 4.3 has no such source
    sql = jvm.org.apache.spark.sql
    encoder = sql.Encoders.row(sql.types.StructType.fromDDL(_RECORDS))
    package = sql.execution.streaming.sources
    companion = getattr(package, "LowLatencyMemoryStream$")
    stream = getattr(companion, "MODULE$").apply(java, 1, encoder)
    return DataFrame(stream.toDF(), spark)
