"""A stream's place in the archive: its columns, its files, and whether its log can be continued."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from engine.events import marked_events
from engine.folders import names_in
from services.backbone.errors import Refused
from services.contracts.streams import StreamDeclaration
from services.contracts.watches import APPENDED_AT

DATE: Final = "date"
"""Day (UTC) of the append time; each has a folder of its own."""

LOG: Final = "_spark_metadata"
"""Folder in which the file sink lists the files of each committed batch."""

KEPT: Final = {
    "topic": "STRING",
    "partition": "INT",
    "offset": "BIGINT",
    "key": "BINARY",
    "value": "BINARY",
}
"""What is kept of a record beside its fields, each with a leading underscore."""


def check_columns(stream: StreamDeclaration) -> None:
    """Refuse a stream whose fields have the names of the archive's own columns.

    Raises:
        Refused: with the names.
    """
    if taken := {APPENDED_AT, DATE} & stream.fields.keys():
        raise Refused(
            f"stream {stream.stream}: the archive has columns {', '.join(sorted(taken))} of its "
            "own; declare the field under another name, with an alias for publishers"
        )


def shelved(records: DataFrame, stream: StreamDeclaration) -> DataFrame:
    """Return a stream's valid events with all that the archive keeps; others only as a mark."""
    marked = marked_events(records, stream, keep=KEPT)
    return marked.withColumn(DATE, F.to_date(APPENDED_AT))


def archive_ddl(stream: StreamDeclaration) -> str:
    """Return the schema of a stream's files."""
    kept = ", ".join(f"_{name} {kind}" for name, kind in KEPT.items())
    return f"{stream.spark_ddl()}, {APPENDED_AT} TIMESTAMP, {kept}, {DATE} DATE"


def stored(spark: SparkSession, folder: str, stream: StreamDeclaration) -> DataFrame:
    """Return what was archived of a stream, each offset once; empty before the first batch.

    Spark reads the files that the sink's log names: what a killed batch left is not among them.
    """
    if not _batches(names_in(spark, f"{folder}/{LOG}")):
        return spark.createDataFrame([], archive_ddl(stream))
    return spark.read.schema(archive_ddl(stream)).parquet(folder)


def check_history(spark: SparkSession, folder: str, checkpoint: Path) -> None:
    """Refuse an archive that knows more batches than its checkpoint has planned.

    The sink takes such batches for written already and would drop their events in silence.

    Raises:
        Refused: with what to move away.
    """
    written = max(_batches(names_in(spark, f"{folder}/{LOG}")), default=-1)
    planned = max(_batches(names_in(spark, str(checkpoint / "offsets"))), default=-1)
    if written > planned:
        raise Refused(
            f"the archive {folder} holds batches up to {written}, its checkpoint {checkpoint} "
            f"only up to {planned}: bring back the checkpoint, or move the archive's folder away "
            "(what Kafka still has is then archived again)"
        )


def _batches(names: Iterable[str]) -> list[int]:
    numbers = [name.removesuffix(".compact") for name in names]
    return [int(number) for number in numbers if number.isdigit()]
