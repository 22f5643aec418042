"""Events that were filed, by this version or by one before, and what any reader finds of them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from archivist.shelf import archive_ddl
from services.contracts.fields import DATE
from tests.unit.archivist.histories import archived
from tests.unit.auditor.batches import HOUR_MS, TRADES, Event, request

DAY_MS = 24 * HOUR_MS


def over_days(numbers: Iterable[int], days: int = 3) -> list[Event]:
    """Return one event for each number, on one day after the other."""
    return [request(f"r{number}", 1, number % days * DAY_MS) for number in numbers]


def kept(spark: SparkSession, folder: Path, events: Iterable[Event]) -> DataFrame:
    """Return what the archive keeps of these events, read from one file."""
    archived(spark, events).write.parquet(str(folder))
    return spark.read.schema(archive_ddl(TRADES)).parquet(str(folder)).coalesce(1)


def found(spark: SparkSession, folder: Path) -> Counter[str]:
    """Return how often each event is found by a reader who knows nothing but the folder."""
    rows = spark.read.schema(archive_ddl(TRADES)).parquet(str(folder)).select("order_id").collect()
    return Counter(row["order_id"] for row in rows)


def once(*numbers: int) -> Counter[str]:
    """Return what is found where each of these events is there once."""
    return Counter(f"r{number}" for number in numbers)


def written_before(
    spark: SparkSession, place: Path, batches: Sequence[Iterable[int]]
) -> tuple[Path, Path]:
    """Write an archive as versions before did: by Spark's file sink, which lists what counts.

    Return its folder and that of its checkpoint.
    """
    source, folder, checkpoint = place / "source", place / "archive", place / "checkpoint"
    rows = kept(spark, place / "rows", over_days(sorted(set().union(*batches))))
    for order, numbers in enumerate(batches):
        wanted = rows.where(F.col("order_id").isin([f"r{number}" for number in numbers]))
        wanted.coalesce(1).write.parquet(str(source / f"{order:03d}"))
    stream = spark.readStream.schema(rows.schema).option("maxFilesPerTrigger", 1)
    query = (
        stream.parquet(f"{source}/*")
        .writeStream.format("parquet")
        .partitionBy(DATE)
        .option("path", str(folder))
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return folder, checkpoint
