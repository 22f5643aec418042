"""The query by which a version before kept aside: what it had not come to when it ended."""

import shutil
from pathlib import Path
from typing import Final

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from archivist.aside import rejections
from archivist.queries import aside_options, checkpoint_folder, marked_records
from archivist.settings import ArchivistSettings
from services.contracts.streams import StreamDeclaration

_KIND: Final = "rejected"


def rejected_before(settings: ArchivistSettings, stream: StreamDeclaration) -> Path:
    """Return the folder of its checkpoint, of which nothing is there but after an upgrade."""
    return checkpoint_folder(settings, _KIND, stream)


def start_rejecting_as_before(
    spark: SparkSession, settings: ArchivistSettings, stream: StreamDeclaration
) -> StreamingQuery:
    """Start it once more; it ends when it has caught up.

    At least once: what the version before had not archived is kept aside by the query of this one
    too, under the same keys.
    """
    return (
        rejections(marked_records(spark, settings, stream), stream)
        .writeStream.format("kafka")
        .options(**aside_options(settings))
        .option("checkpointLocation", str(rejected_before(settings, stream)))
        .queryName(f"rejected {stream.stream}")
        .trigger(availableNow=True)
        .start()
    )


def is_left(checkpoint: Path) -> bool:
    """Return whether something of it is there."""
    return checkpoint.exists() or _over(checkpoint).exists()


def remove_checkpoint(checkpoint: Path) -> None:
    """Remove it, and what a killed removal left; half of one would be taken for a whole one.

    Raises:
        OSError: the disk does not let go of it.
    """
    over = _over(checkpoint)
    if checkpoint.exists():
        shutil.rmtree(over, ignore_errors=True)
        checkpoint.rename(over)
    if over.exists():
        shutil.rmtree(over)


def _over(checkpoint: Path) -> Path:
    """A stream's name may hold dots, and never this sign."""
    return checkpoint.with_name(f"{checkpoint.name}~")
