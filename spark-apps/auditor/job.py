"""The auditor's job: session, sources, sinks; one Real-time Mode query per watch."""

import math
import random
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from auditor import guards
from auditor.boundaries import Boundaries, set_length
from auditor.checkpoint import claim, fingerprint
from auditor.formatting import alert_messages
from auditor.logic import findings, valid_events
from auditor.plan import shuffles
from auditor.progress import Pulse
from auditor.settings import AuditorSettings
from auditor.stagger import Phase
from auditor.supervision import Supervised
from engine.brokers import partition_counts
from engine.restarts import Failures, RestartLimit
from services.backbone.clock import Clock
from services.contracts.streams import StreamDeclaration
from services.contracts.topics import heartbeat
from services.contracts.watches import WatchDeclaration


@dataclass(frozen=True, slots=True)
class Prepared:
    """A watch that passed every check and can be started."""

    watch: WatchDeclaration
    messages: DataFrame
    checkpoint: Path


def prepare_all(
    spark: SparkSession,
    settings: AuditorSettings,
    streams: dict[str, StreamDeclaration],
    watches: dict[str, WatchDeclaration],
) -> list[Prepared]:
    """Check every watch, and all of them together, before any starts.

    Raises:
        Refused: something cannot work; the message says what to do.
        Transient: the brokers do not answer.
    """
    topics = {topic for watch in watches.values() for topic in guards.topics_of(watch)}
    partitions = partition_counts(spark, settings.kafka_client_options(), sorted(topics))
    prepared = [_prepare(spark, settings, streams, watch) for watch in watches.values()]
    needed = {
        item.watch.watch: guards.slots_needed(
            item.watch, partitions, shuffles(item.messages) * settings.auditor_shuffle_partitions
        )
        for item in prepared
    }
    guards.check_slots(needed, settings.auditor_slots)
    return prepared


def _prepare(
    spark: SparkSession,
    settings: AuditorSettings,
    streams: dict[str, StreamDeclaration],
    watch: WatchDeclaration,
) -> Prepared:
    guards.check_sql(watch)
    watch.check_streams(streams)
    events = {
        name: valid_events(_source(spark, settings, name), streams[name], watch.watermark)
        for name in watch.streams
    }
    try:
        found = findings(spark, watch, events)
        guards.check_columns(watch, found.schema)
        messages = alert_messages(found, watch, settings.auditor_id)
    except AnalysisException as error:
        raise guards.refusal(watch.watch, error) from None
    folder = settings.auditor_checkpoints / settings.auditor_id / watch.watch
    wanted = fingerprint(watch, streams, settings.auditor_shuffle_partitions)
    return Prepared(watch, messages, claim(folder, watch.watch, wanted))


def _source(spark: SparkSession, settings: AuditorSettings, stream: str) -> DataFrame:
    """Real events and heartbeats come through one source, so that they take the same way."""
    reader = (
        spark.readStream.format("kafka")
        .option("subscribe", f"{stream},{heartbeat(stream)}")
        .option("startingOffsets", "earliest")
        .option("failOnDataLoss", str(settings.auditor_fail_on_data_loss).lower())
    )
    return reader.options(**_prefixed(settings)).load()


def _prefixed(settings: AuditorSettings) -> dict[str, str]:
    return {f"kafka.{name}": value for name, value in settings.kafka_client_options().items()}


def sink(prepared: Prepared, settings: AuditorSettings) -> DataStreamWriter:
    """Return the way of a watch's messages to their topics; the caller sets the trigger."""
    return (
        prepared.messages.writeStream.format("kafka")
        .options(**_prefixed(settings))
        .option("kafka.linger.ms", "0")
        .option("kafka.acks", "all")
        .option("checkpointLocation", str(prepared.checkpoint))
        .outputMode("update")
        .queryName(prepared.watch.watch)
    )


def start(prepared: Prepared, settings: AuditorSettings, batch_seconds: float) -> StreamingQuery:
    """Start a watch's query, or continue it from its checkpoint; its first batch reads so long.

    Raises:
        Refused: Spark does not take this query in Real-time Mode.
    """
    writer = sink(prepared, settings)
    every = f"{math.ceil(batch_seconds * 1000)} milliseconds"
    try:
        query: StreamingQuery = writer.trigger(realTime=every).start()  # type: ignore[call-overload] # PySpark's overloads lack it
        return query
    except AnalysisException as error:
        raise guards.refusal(prepared.watch.watch, error) from None


def supervise(
    spark: SparkSession,
    prepared: Prepared,
    settings: AuditorSettings,
    phase: Phase,
    pulse: Pulse,
    clock: Clock,
) -> Supervised:
    """Return a prepared watch under supervision, not yet started."""
    watch = prepared.watch.watch
    limit = RestartLimit(settings.auditor_restarts_max, settings.auditor_restarts_window_seconds)
    return Supervised(
        watch,
        partial(start, prepared, settings),
        Boundaries(watch, phase, partial(set_length, spark), clock),
        pulse,
        Failures(limit, random.Random()),  # noqa: S311 - jitter, not secrecy
        clock,
    )
