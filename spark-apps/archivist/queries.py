"""The archivist's queries: each reads what is new on a stream's topic, and ends."""

from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from archivist.aside import rejections
from archivist.settings import ArchivistSettings
from archivist.shelf import shelved
from archivist.shelving import Shelver
from engine.events import VALID, counted
from engine.options import KEEPING_ASIDE
from services.contracts.streams import StreamDeclaration


def archive_folder(settings: ArchivistSettings, stream: StreamDeclaration) -> str:
    """Return the folder of a stream's files, as Spark takes it."""
    return f"{settings.archivist_archive}/{stream.stream}"


def checkpoint_folder(settings: ArchivistSettings, kind: str, stream: StreamDeclaration) -> Path:
    """Return the folder of a query's checkpoint."""
    return settings.archivist_state / kind / stream.stream


def start_archiving(
    spark: SparkSession, settings: ArchivistSettings, stream: StreamDeclaration, shelver: Shelver
) -> StreamingQuery:
    """Start writing new events to Parquet; ends when it has caught up."""
    rows = _marked(spark, settings, stream).where(VALID).drop(VALID)
    return (
        rows.coalesce(settings.archivist_files_per_batch)
        .writeStream.foreachBatch(shelver)
        .option("checkpointLocation", str(checkpoint_folder(settings, "archive", stream)))
        .queryName(f"archive {stream.stream}")
        .trigger(availableNow=True)
        .start()
    )


def start_rejecting(
    spark: SparkSession, settings: ArchivistSettings, stream: StreamDeclaration
) -> StreamingQuery:
    """Start keeping aside new records that are no events; ends when it has caught up.

    At least once: a crash may write a batch again, with the same keys.
    """
    return (
        rejections(_marked(spark, settings, stream), stream)
        .writeStream.format("kafka")
        .options(**settings.spark_kafka_options())
        .options(**KEEPING_ASIDE)
        .option("checkpointLocation", str(checkpoint_folder(settings, "rejected", stream)))
        .queryName(f"rejected {stream.stream}")
        .trigger(availableNow=True)
        .start()
    )


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
    return counted(shelved(records, stream), stream.stream)
