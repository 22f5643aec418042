"""From records of a topic to findings of a watch: DataFrame to DataFrame, without Kafka."""

from collections.abc import Mapping

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from auditor.queries.books import SOURCE, book
from engine.events import VALID, counted, marked_events
from engine.selects import selected
from services.contracts.fields import APPENDED_AT
from services.contracts.streams import StreamDeclaration
from services.contracts.topics import heartbeat
from services.contracts.watches import BOOK, WatchDeclaration


def valid_events(records: DataFrame, stream: StreamDeclaration, watermark: str) -> DataFrame:
    """Return the events of a stream that keep its declaration; all others are only counted.

    `records` has `value` (binary), `timestamp`, `topic` and `partition`. The result has the
    stream's columns, `appended_at`, with a watermark, and `_source`, which is no column for SQL. An
    observation named like the stream counts `rows` and `malformed`: nothing that a publisher writes
    may stop the query or overflow a sum.
    """
    marked = counted(marked_events(records, stream, ("topic", "partition")), stream.stream)
    beats = (F.col("_topic") == heartbeat(stream.stream)).cast("int")
    events = marked.where(VALID).withColumn(SOURCE, F.col("_partition") * 2 + beats)
    return events.drop("_topic", "_partition", VALID).withWatermark(APPENDED_AT, watermark)


def findings(
    spark: SparkSession,
    watch: WatchDeclaration,
    streams: Mapping[str, StreamDeclaration],
    events: Mapping[str, DataFrame],
) -> DataFrame:
    """Return the watch's result rows over views named like its streams, or over its book.

    Raises:
        Refused: the SQL does more than that.
    """
    for stream in watch.streams:
        events[stream].drop(SOURCE).createOrReplaceTempView(f"`{stream}`")
    if watch.book:
        (stream,) = watch.streams
        book(spark, watch, events[stream], streams[stream].key).createOrReplaceTempView(BOOK)
    what = f"watch {watch.watch}"
    return selected(spark, what, watch.sql, watch.tables(), watch.arguments())
