"""From records of a topic to findings of a watch: DataFrame to DataFrame, without Kafka."""

from collections.abc import Mapping

from pyspark.sql import DataFrame, SparkSession

from engine.events import VALID, counted, marked_events
from services.contracts.streams import StreamDeclaration
from services.contracts.watches import APPENDED_AT, WatchDeclaration


def valid_events(records: DataFrame, stream: StreamDeclaration, watermark: str) -> DataFrame:
    """Return the events of a stream that keep its declaration; all others are only counted.

    `records` has `value` (binary), `timestamp` and `topic`. The result has the stream's columns
    and `appended_at`, with a watermark. An observation named like the stream counts `rows` and
    `malformed`: nothing that a publisher writes may stop the query or overflow a sum.
    """
    marked = counted(marked_events(records, stream), stream.stream)
    return marked.where(VALID).drop("_topic", VALID).withWatermark(APPENDED_AT, watermark)


def findings(
    spark: SparkSession, watch: WatchDeclaration, events: Mapping[str, DataFrame]
) -> DataFrame:
    """Return the watch's result rows over views named like its streams."""
    for stream in watch.streams:
        events[stream].createOrReplaceTempView(f"`{stream}`")
    return spark.sql(watch.sql, args=dict(watch.arguments()))
