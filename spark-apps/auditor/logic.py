"""From records of a topic to findings of a watch: DataFrame to DataFrame, without Kafka."""

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from services.contracts.fields import HEARTBEAT_PREFIX
from services.contracts.streams import StreamDeclaration
from services.contracts.topics import heartbeat
from services.contracts.watches import APPENDED_AT, WatchDeclaration

ROWS = "rows"
MALFORMED = "malformed"


def valid_events(records: DataFrame, stream: StreamDeclaration, watermark: str) -> DataFrame:
    """Return the events of a stream that keep its declaration; all others are only counted.

    `records` has `value` (binary), `timestamp` and `topic`. The result has the stream's columns
    and `appended_at`, with a watermark. An observation named like the stream counts `rows` and
    `malformed`: nothing that a publisher writes may stop the query or overflow a sum.
    """
    parsed = F.from_json(F.col("value").cast("string"), stream.spark_ddl())
    flat = records.select(
        parsed.alias("event"), F.col("timestamp").alias(APPENDED_AT), F.col("topic").alias("_topic")
    ).select("event.*", APPENDED_AT, "_topic")
    marked = flat.withColumn("_valid", F.coalesce(_keeps_declaration(stream), F.lit(False)))
    counted = marked.observe(
        stream.stream,
        F.count(F.lit(1)).alias(ROWS),
        F.count_if(~F.col("_valid")).alias(MALFORMED),
    )
    return counted.where("_valid").drop("_topic", "_valid").withWatermark(APPENDED_AT, watermark)


def _keeps_declaration(stream: StreamDeclaration) -> Column:
    """Heartbeats come from their own topic only, else anyone could divert an alert with an id."""
    beats = F.col("_topic") == heartbeat(stream.stream)
    reserved = F.col(stream.key).startswith(HEARTBEAT_PREFIX)
    return F.expr(stream.spark_predicate()) & (beats == reserved)


def findings(
    spark: SparkSession, watch: WatchDeclaration, events: Mapping[str, DataFrame]
) -> DataFrame:
    """Return the watch's result rows over views named like its streams."""
    for stream in watch.streams:
        events[stream].createOrReplaceTempView(f"`{stream}`")
    return spark.sql(watch.sql, args=dict(watch.arguments()))
