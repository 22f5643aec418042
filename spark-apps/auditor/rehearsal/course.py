"""One version's way through the events, in Real-time Mode as the auditor runs it."""

import json
import threading
from dataclasses import dataclass, replace
from typing import Final

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from auditor.batches.progress import read
from auditor.checkpoints.offsets import behind, committed, newest_commit
from auditor.queries.declared import Declared
from auditor.queries.patience import waiting
from auditor.queries.plan import shuffles
from auditor.queries.query import messages_of, reader_of
from auditor.queries.refusals import judgement
from auditor.queries.slots import slots_needed, topics_of
from auditor.rehearsal.memory import MemoryQuery, start_in_memory
from auditor.rehearsal.span import Reading, of_topics
from auditor.settings import AuditorSettings
from engine.scratch import scratch
from services.backbone.clock import Clock
from services.backbone.errors import Refused
from services.contracts.durations import LIMIT_MS
from services.contracts.topics import ALERTS, heartbeat

NOBODY: Final = "rehearsal"
"""Stands for the auditor's id."""
BATCH_MS: Final = 2000
BATCHES_TOLD: Final = 10_000
"""All are counted at the end; Spark keeps the last 100 otherwise."""
_LOOK_SECONDS: Final = 0.1


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much one version may take."""

    rows: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one version wrote: records of alerts as JSON; `cut` is empty if it read everything."""

    texts: list[str]
    malformed: int
    seconds: float
    cut: str = ""


@dataclass(frozen=True)
class Stage:
    """What both versions share."""

    spark: SparkSession
    settings: AuditorSettings
    clock: Clock
    reading: Reading
    bounds: Bounds


def run(stage: Stage, declared: Declared) -> Outcome:
    """Run one version over the events.

    Raises:
        Refused: Spark does not take the watch, or its SQL fails on an event.
        Transient: what it needs for that is not there just now, as brokers, a disk or memory.
    """
    apart = stage.spark.newSession()
    apart.conf.set("spark.sql.streaming.realTimeMode.minBatchDuration", "100")
    apart.conf.set("spark.sql.streaming.numRecentProgressUpdates", BATCHES_TOLD)
    texts = _texts(stage, apart, declared)
    _check_slots(stage, declared, texts)
    with scratch("rehearsal", stage.clock) as folder:
        try:
            started = start_in_memory(apart, texts, folder, BATCH_MS)
        except (PySparkException, Py4JJavaError) as error:
            raise judgement(declared.name, error) from None
        try:
            return follow(stage, declared, started, folder)
        finally:
            started.query.stop()


def _texts(stage: Stage, spark: SparkSession, declared: Declared) -> DataFrame:
    # Read from the past, one partition may be far ahead of another: nothing is late for that.
    patient = waiting(declared.watch, LIMIT_MS)

    def records(stream: str) -> DataFrame:
        begins = of_topics(stage.reading, (stream, heartbeat(stream)))
        reader = reader_of(spark, stage.settings, stream).option("failOnDataLoss", "false")
        return reader.option("startingOffsets", json.dumps(begins)).load()

    messages = messages_of(spark, replace(declared, watch=patient), records, NOBODY)
    return messages.where(F.col("topic") == ALERTS).select(F.col("value").cast("string"))


def _check_slots(stage: Stage, declared: Declared, texts: DataFrame) -> None:
    """Real-time Mode would wait for ever with too few."""
    partitions = {topic: len(each) for topic, each in stage.reading.begins.items()}
    shuffled = shuffles(texts) * stage.settings.auditor_shuffle_partitions
    needed = slots_needed(declared.watch, partitions, shuffled)
    if needed > stage.settings.auditor_slots:
        limit = stage.settings.auditor_slots
        raise Refused(f"watch {declared.name}: {needed} tasks at once; {limit} can be tried")


def follow(stage: Stage, declared: Declared, started: MemoryQuery, folder: str) -> Outcome:
    """Wait until a query has read everything, or a bound is passed.

    Raises:
        Refused: as of `run`.
        Transient: as of `run`.
    """
    begun, never = stage.clock.monotonic_seconds(), threading.Event()
    cut = ""
    while started.query.isActive and not _is_through(stage, declared, started, folder):
        seconds = stage.clock.monotonic_seconds() - begun
        if cut := too_much(stage.bounds, started.count(), seconds):
            break
        stage.clock.wait(never, _LOOK_SECONDS)
    if (error := started.query.exception()) is not None:
        raise judgement(declared.name, error)
    started.query.stop()
    malformed = sum(read(each).malformed for each in started.query.recentProgress)
    texts = started.texts()[: stage.bounds.rows]
    return Outcome(texts, malformed, stage.clock.monotonic_seconds() - begun, cut)


def too_much(bounds: Bounds, rows: int, seconds: float) -> str:
    """Say which bound is passed; empty where none is."""
    if rows >= bounds.rows:
        return f"stopped after {bounds.rows} findings: it finds something nearly everywhere"
    if seconds > bounds.seconds:
        return f"stopped after {bounds.seconds:g} s: take a shorter span"
    return ""


def _is_through(stage: Stage, declared: Declared, started: MemoryQuery, folder: str) -> bool:
    """Tell whether everything is read, and Spark has told of the batch that read the last."""
    ends = {topic: stage.reading.ends[topic] for topic in topics_of(declared.watch)}
    try:
        # In this sequence, so that `last` is no earlier than the batch that read the last record.
        if behind(committed(stage.spark, folder), ends) > 0:
            return False
        last = newest_commit(stage.spark, folder)
    except (OSError, ValueError):
        return False
    return last in [each.batchId for each in started.query.recentProgress]
