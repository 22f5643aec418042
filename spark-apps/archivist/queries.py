"""The archivist's queries: each reads what is new on a stream's topic, and ends."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from archivist.aside import rejections
from archivist.settings import ArchivistSettings
from archivist.shelf import shelved
from engine.options import KEEPING_ASIDE
from services.contracts.streams import StreamDeclaration

ARCHIVE: Final = "archive"
"""Folder of the checkpoints of the queries that file."""

REJECTED_BEFORE: Final = "rejected"
"""Where a version before had those of queries that kept aside by themselves."""


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
        _marked(spark, settings, stream)
        .writeStream.foreachBatch(file)
        .option("checkpointLocation", str(checkpoint_folder(settings, ARCHIVE, stream)))
        .queryName(f"archive {stream.stream}")
        .trigger(availableNow=True)
        .start()
    )


def start_rejecting_as_before(
    spark: SparkSession, settings: ArchivistSettings, stream: StreamDeclaration
) -> StreamingQuery:
    """Start keeping aside what a version before, which had a query for it, had not come to.

    At least once: what its other query has not archived yet will be kept aside again, under the
    same keys.
    """
    return (
        rejections(_marked(spark, settings, stream), stream)
        .writeStream.format("kafka")
        .options(**_aside_options(settings))
        .option("checkpointLocation", str(checkpoint_folder(settings, REJECTED_BEFORE, stream)))
        .queryName(f"rejected {stream.stream}")
        .trigger(availableNow=True)
        .start()
    )


def write_aside(settings: ArchivistSettings, rejected: DataFrame) -> None:
    """Write a batch's records to their topics; at least once, and each is known by its key.

    Raises:
        PySparkException: the brokers do not take them.
    """
    rejected.write.format("kafka").options(**_aside_options(settings)).save()


def _aside_options(settings: ArchivistSettings) -> dict[str, str]:
    return {**settings.spark_kafka_options(), **KEEPING_ASIDE}


def _marked(
    spark: SparkSession, settings: ArchivistSettings, stream: StreamDeclaration
) -> DataFrame:
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
