"""A stream's place in the archive: its columns, and what was filed there on which day."""

from collections.abc import Iterable
from datetime import date
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from engine.events import marked_events
from engine.folders import is_there
from services.contracts.fields import APPENDED_AT, DATE
from services.contracts.streams import StreamDeclaration

KEPT: Final = {
    "topic": "STRING",
    "partition": "INT",
    "offset": "BIGINT",
    "key": "BINARY",
    "value": "BINARY",
}
"""What is kept of a record beside its fields, each with a leading underscore."""


def shelved(records: DataFrame, stream: StreamDeclaration) -> DataFrame:
    """Return a stream's valid events with all that the archive keeps; others only as a mark."""
    marked = marked_events(records, stream, keep=KEPT)
    return marked.withColumn(DATE, F.to_date(APPENDED_AT))


def archive_ddl(stream: StreamDeclaration) -> str:
    """Return the schema of a stream's files."""
    kept = ", ".join(f"_{name} {kind}" for name, kind in KEPT.items())
    return f"{stream.spark_ddl()}, {APPENDED_AT} TIMESTAMP, {kept}, {DATE} DATE"


def stored(
    spark: SparkSession, folder: str, stream: StreamDeclaration, days: Iterable[date]
) -> DataFrame:
    """Return what was archived of a stream on some days, each offset once.

    Only these days' folders are looked at, so that the archive's age costs nothing.

    Raises:
        OSError: the store does not answer, or does not let us in.
    """
    named = (day_folder(folder, day) for day in days)
    there = [place for place in named if is_there(spark, place)]
    if not there:
        return spark.createDataFrame([], archive_ddl(stream))
    return spark.read.schema(archive_ddl(stream)).option("basePath", folder).parquet(*there)


def day_folder(folder: str, day: date) -> str:
    """Return the folder of a day within a stream's."""
    return f"{folder}/{DATE}={day.isoformat()}"
