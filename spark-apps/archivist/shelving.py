"""Puts a stream's batches into the folders of its archive, each once, whoever is killed when."""

import re
import uuid
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Final

from pyspark.sql import DataFrame, SparkSession

from engine.folders import move_files, names_in, remove, write_in
from services.backbone.errors import Refused
from services.contracts.fields import DATE

STAGED: Final = "_staged"
"""Folder in which each attempt at a batch has its own; readers pass over names like this."""

BATCHES: Final = "_batches"
"""Folder with one empty file, named as the attempt that made the last batch: `7-<any word>`."""

EARLIER_LOG: Final = "_spark_metadata"
"""Where versions before listed all files that they had ever written."""

ASIDE: Final = "_earlier"
"""Folder of what such a version left: its log, and files that the log does not name."""

ASIDE_LOG: Final = f"{ASIDE}/log"


def shelve(spark: SparkSession, folder: str, rows: DataFrame, batch: int) -> None:
    """Put a batch's rows into the folders of their days; done again, they are still there once.

    An attempt's files count from the moment that `BATCHES` names it: from then on they are only
    moved, and before that the batch is written anew, away from what a killed attempt left.

    Raises:
        PySparkException: the writing failed.
        OSError: the disk or the store does not take it.
    """
    named = names_in(spark, f"{folder}/{BATCHES}")
    attempt = next((name for name in named if _numbers([name]) == [batch]), None)
    if attempt is None:
        # What attempts left must go first, else a full disk gets fuller with each.
        remove(spark, f"{folder}/{STAGED}")
        attempt = f"{batch}-{uuid.uuid4().hex}"
        rows.write.partitionBy(DATE).parquet(f"{folder}/{STAGED}/{attempt}")
        name_batch(spark, folder, attempt)
    move_files(spark, f"{folder}/{STAGED}/{attempt}", folder)
    for before in named:
        if before != attempt:
            remove(spark, f"{folder}/{BATCHES}/{before}")


def name_batch(spark: SparkSession, folder: str, attempt: str) -> None:
    """Let an attempt's files count.

    Raises:
        OSError: the disk or the store does not take it.
    """
    write_in(spark, f"{folder}/{BATCHES}/{attempt}", b"")


def check_history(spark: SparkSession, folder: str, checkpoint: Path) -> None:
    """Refuse an archive and a checkpoint that do not belong together.

    An archive that is ahead would drop the batches that it takes for its own in silence; one that
    is behind, as a wrong or an empty folder is, would have a gap.

    Raises:
        Refused: with what to do.
        OSError: the store does not answer, or does not let us in.
    """
    written = last_batch(spark, folder)
    planned = max(batches_in(spark, str(checkpoint / "offsets")), default=-1)
    done = max(batches_in(spark, str(checkpoint / "commits")), default=-1)
    if written > planned:
        raise Refused(
            f"the archive {folder} holds batches up to {written}, its checkpoint {checkpoint} "
            f"only up to {planned}: bring back the checkpoint, or move the archive's folder away "
            "(what Kafka still has is then archived again, and kept aside again)"
        )
    if done > written:
        raise Refused(
            f"the checkpoint {checkpoint} has archived batches up to {done}, the archive {folder} "
            f"holds them only up to {written}: correct the address or bring back the archive, or "
            "move the checkpoint and what there is of the archive away (what Kafka still has is "
            "then archived again, and kept aside again)"
        )


def last_batch(spark: SparkSession, folder: str) -> int:
    """Return the last batch that counts in a stream's archive, -1 before the first."""
    named = batches_in(spark, f"{folder}/{BATCHES}")
    if named:
        return named[-1]
    earlier = [batches_in(spark, f"{folder}/{log}") for log in (EARLIER_LOG, ASIDE_LOG)]
    return max(chain.from_iterable(earlier), default=-1)


def batches_in(spark: SparkSession, folder: str) -> list[int]:
    """Return the numbers of the batches that a folder has a file of, in their sequence."""
    return sorted(_numbers(names_in(spark, folder)))


def _numbers(names: Iterable[str]) -> list[int]:
    numbers = [re.split(r"[-.]", name)[0] for name in names]
    return [int(number) for number in numbers if number.isdigit()]
