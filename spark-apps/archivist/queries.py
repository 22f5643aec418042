"""The archivist's queries: each reads what is new on a stream's topic, and ends."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from archivist.settings import ArchivistSettings
from archivist.shelf import shelved
from engine.options import KEEPING_ASIDE
from services.contracts.streams import StreamDeclaration

ARCHIVE: Final = "archive"
"""Folder of the checkpoints of the queries that file."""


def archive_folder(settings: ArchivistSettings, stream: StreamDeclaration) -> str:
    """Return the folder of a stream's files, as Spark takes it."""
    return f"{settings.archivist_archive}/{stream.stream}"


def checkpoint_folder(settings: ArchivistSettings, kind: str, stream: StreamDeclaration) -> Path:
    """Return the folder of a query's checkpoint."""
    return settings.archivist_state / kind / stream.stream


def start_filing(
    spark: SparkSession,
    settings: ArchivistSettings,
    stream: StreamDeclaration,
    file: Callable[[DataFrame, int], None],
) -> StreamingQuery:
    """Start giving new records to `file`, marked and in batches; ends when it has caught up."""
    return (
        marked_records(spark, settings, stream)
        .writeStream.foreachBatch(file)
        .option("checkpointLocation", str(checkpoint_folder(settings, ARCHIVE, stream)))
        .queryName(f"archive {stream.stream}")
        .trigger(availableNow=True)
        .start()
    )


def write_aside(settings: ArchivistSettings, rejected: DataFrame) -> None:
    """Write a batch's records to their topics; at least once, and each is known by its key.

    Raises:
        PySparkException: the brokers do not take them.
    """
    rejected.write.format("kafka").options(**aside_options(settings)).save()


def aside_options(settings: ArchivistSettings) -> dict[str, str]:
    """Return what Spark's sink is told where records are kept aside."""
    return {**settings.spark_kafka_options(), **KEEPING_ASIDE}


def marked_records(
    spark: SparkSession, settings: ArchivistSettings, stream: StreamDeclaration
) -> DataFrame:
    """Return what is on a stream's topic, as `shelved` marks it, from its start or a checkpoint."""
    records = (
        spark.readStream.format("kafka")
        .options(**settings.spark_kafka_options())
        .option("subscribe", stream.stream)
        .option("startingOffsets", "earliest")
        .option("failOnDataLoss", str(settings.archivist_fail_on_data_loss).lower())
        .option("maxOffsetsPerTrigger", str(settings.archivist_records_per_batch))
        .load()
    )
    return shelved(records, stream)
