"""How a watch's query is made: from records of its streams to alert messages."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce

from py4j.protocol import Py4JError
from pyspark.errors import AnalysisException, IllegalArgumentException, PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamReader, DataStreamWriter

from auditor.checkpoints.checkpoint import Checkpoint
from auditor.checkpoints.spared import Place, read_spared
from auditor.queries import guards
from auditor.queries.books import check_book
from auditor.queries.declared import Declared
from auditor.queries.formatting import alert_messages, told_once
from auditor.queries.logic import findings, valid_events
from auditor.queries.refusals import judgement, refusal
from auditor.queries.rules import table
from auditor.settings import AuditorSettings
from engine.options import READING
from engine.queries import plain
from services.backbone.errors import Refused
from services.contracts.topics import heartbeat
from services.contracts.watches import RULES

Records = Callable[[str], DataFrame]
"""Gives a stream's `value`, `timestamp`, `topic` and `partition`, as Kafka's source has them."""


def messages_of(
    spark: SparkSession,
    declared: Declared,
    records: Records,
    auditor: str,
    watermark: str | None = None,
) -> DataFrame:
    """Return the alert messages of a watch over any source of records.

    They carry the mark of what is declared, also where windows wait for another `watermark`.

    Raises:
        Refused, Transient: as `rows_of`.
    """
    watch = declared.watch
    found = rows_of(spark, declared, records, watermark)
    with judged(declared.name):
        return alert_messages(told_once(found, watch), watch, auditor, declared.mark)


def rows_of(
    spark: SparkSession, declared: Declared, records: Records, watermark: str | None = None
) -> DataFrame:
    """Return the rows that the SQL of a watch finds over any source of records.

    Raises:
        Refused: the SQL, or what it returns, does not fit; the message says what to do.
        Transient: what Spark needs for it is not there just now, as memory.
    """
    watch = declared.watch
    guards.check_sql(watch)
    check_book(watch, declared.streams[watch.streams[0]])
    read = {name: records(name) for name in declared.streams}
    with judged(declared.name):
        found = _found(spark, declared, read, watermark or watch.watermark)
        guards.check_columns(watch, found.schema)
        return found


@contextmanager
def judged(watch: str) -> Iterator[None]:
    """Tell Spark's refusals in our words.

    Some types that there are not Spark tells as arithmetic; Java may lack memory meanwhile, or
    py4j find no way to hand over what is declared.
    """
    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise judgement(watch, error) from None


def _found(
    spark: SparkSession, declared: Declared, read: Mapping[str, DataFrame], watermark: str
) -> DataFrame:
    watch, streams = declared.watch, declared.streams
    events = {name: valid_events(read[name], one, watermark) for name, one in streams.items()}
    if watch.rules:
        table(spark, watch.rules, declared.rules).createOrReplaceTempView(RULES)
    return findings(spark, watch, streams, events)


@dataclass(frozen=True)
class Recipe:
    """All that one version of a watch is started from, again and again."""

    spark: SparkSession
    settings: AuditorSettings
    declared: Declared
    checkpoint: Checkpoint
    watermark: str | None = None
    """How long windows wait, where that is longer than declared; it is no other declaration."""

    def messages(self, lossy: bool = False) -> DataFrame:
        """Return the messages over the live topics, without the records set aside.

        `lossy` lets the query go on behind records that were deleted before it read them.

        Raises:
            Refused: the SQL, or what it returns, does not fit.
            Transient: the note of records set aside cannot be read just now, or memory is short.
        """
        places = read_spared(self.checkpoint.folder)

        def records(stream: str) -> DataFrame:
            return without(source(self.spark, self.settings, stream, lossy), places)

        auditor = self.settings.auditor_id
        return messages_of(self.spark, self.declared, records, auditor, self.watermark)

    def start(self, batch_seconds: float, lossy: bool = False) -> StreamingQuery:
        """Start the query in Real-time Mode, or continue it; its first batch reads so long.

        Raises:
            Refused: Spark does not take this query in Real-time Mode.
            Transient: a note beside the checkpoint cannot be read just now, or memory is short.
        """
        every = f"{math.ceil(batch_seconds * 1000)} milliseconds"
        writer = sink(self.messages(lossy), self.checkpoint, self.settings)
        try:
            query: StreamingQuery = writer.trigger(realTime=every).start()  # type: ignore[call-overload] # PySpark's overloads lack it
            return query
        except AnalysisException as error:
            raise refusal(self.declared.name, error) from None


def source(
    spark: SparkSession, settings: AuditorSettings, stream: str, lossy: bool = False
) -> DataFrame:
    """Return a stream's records from the first one on, or from where the query left off.

    Raises:
        Refused: an option of the Kafka client is one that Spark sets itself.
    """
    reader = reader_of(spark, settings, stream).option("startingOffsets", "earliest")
    try:
        return reader.option("failOnDataLoss", str(not lossy).lower()).load()
    except IllegalArgumentException as error:
        raise Refused(f"ALDEBARAN_AUDITOR_KAFKA_OPTIONS: {plain(error)}") from None


def reader_of(spark: SparkSession, settings: AuditorSettings, stream: str) -> DataStreamReader:
    """Real events and heartbeats come through one source, so that they take the same way."""
    reader = spark.readStream.format("kafka").option("subscribe", f"{stream},{heartbeat(stream)}")
    return reader.options(**_prefixed(READING)).options(**prefixed(settings))


def sink(
    messages: DataFrame, checkpoint: Checkpoint, settings: AuditorSettings
) -> DataStreamWriter:
    """Return the way of a watch's messages to their topics; the caller sets the trigger."""
    return (
        messages.writeStream.format("kafka")
        .options(**prefixed(settings))
        .option("kafka.linger.ms", "0")
        .option("kafka.acks", "all")
        .option("checkpointLocation", checkpoint.location())
        .outputMode("update")
        .queryName(f"{checkpoint.watch}-{checkpoint.wanted.id}")
    )


def prefixed(settings: AuditorSettings) -> dict[str, str]:
    """Return the Kafka client's options as Spark's sources and sinks take them."""
    return _prefixed(settings.kafka_client_options())


def _prefixed(options: Mapping[str, str]) -> dict[str, str]:
    return {f"kafka.{name}": value for name, value in options.items()}


def without(records: DataFrame, places: Iterable[Place]) -> DataFrame:
    """Return the records but those that lie at these places."""
    spared = [_lies_at(place) for place in places]
    return records.where(~reduce(lambda one, other: one | other, spared)) if spared else records


def _lies_at(place: Place) -> Column:
    return (
        (F.col("topic") == place.topic)
        & (F.col("partition") == place.partition)
        & (F.col("offset") == place.offset)
    )
