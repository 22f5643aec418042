"""Takes over an archive that a version before kept, whose files count only if a log names them."""

import re
from collections.abc import Iterator
from typing import Final

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from archivist.shelving import (
    ASIDE,
    ASIDE_LOG,
    BATCHES,
    EARLIER_LOG,
    batches_in,
    name_batch,
)
from engine.folders import is_there, move_file, move_files, names_in, write_in
from services.backbone.errors import Refused
from services.backbone.log import logger
from services.contracts.fields import DATE

_COMPACT: Final = ".compact"
_NAMED: Final = rf'/{DATE}=([^/"]+)/([^/"]+)"'
"""A file's day and name, in a line of the log."""
_PARTS: Final = ((1, "day"), (2, "name"))

log = logger(__name__)


def take_over(spark: SparkSession, folder: str) -> None:
    """Move the log of a version before aside, and then all that it does not name.

    What is left in the days' folders is what was archived. Killed at any moment, it is done again;
    in memory are the names of about one day at a time.

    Raises:
        Refused: the log is not whole, or not as Spark writes it.
        OSError: the disk or the store does not answer, or does not take it.
        PySparkException: the log cannot be read.
    """
    if is_there(spark, f"{folder}/{EARLIER_LOG}"):
        # A log without a batch says something too: that no file counts.
        write_in(spark, f"{folder}/{ASIDE_LOG}/begun", b"")
    # Where it was, Spark finds it empty: what is in a folder of that name is no data to it.
    move_files(spark, f"{folder}/{EARLIER_LOG}", f"{folder}/{ASIDE_LOG}")
    if batches_in(spark, f"{folder}/{BATCHES}") or not is_there(spark, f"{folder}/{ASIDE_LOG}"):
        return
    files = _log_files(spark, f"{folder}/{ASIDE_LOG}")
    moved = _clear(spark, folder, files)
    if files:
        name_batch(spark, folder, f"{_number(files[-1])}-earlier")
    log.info("archive_taken_over", folder=folder, moved_aside=moved)


def _log_files(spark: SparkSession, aside_log: str) -> list[str]:
    """Return the newest file that sums up all before it, and those that came after."""
    numbered = [name for name in names_in(spark, aside_log) if re.match(r"\d+(\.compact)?$", name)]
    names = sorted(numbered, key=_number)
    sums = [place for place, name in enumerate(names) if name.endswith(_COMPACT)]
    needed = names[sums[-1] :] if sums else names
    first = _number(needed[0]) if sums else 0
    if [_number(name) for name in needed] != list(range(first, first + len(needed))):
        raise Refused(
            f"{aside_log}: files are missing between {names[0]} and {names[-1]}, so it does not "
            "say what was archived: bring them back, or move the archive's folder and its "
            "checkpoint away (what Kafka still has is then archived again)"
        )
    return needed


def _number(name: str) -> int:
    return int(name.removesuffix(_COMPACT))


def _clear(spark: SparkSession, folder: str, files: list[str]) -> int:
    """Move aside what no line of the log names; return how many files."""
    days = {name for name in names_in(spark, folder) if name.startswith(f"{DATE}=")}
    moved = 0
    for day, named in _named(spark, [f"{folder}/{ASIDE_LOG}/{name}" for name in files], days):
        days.discard(day)
        moved += _clear_day(spark, folder, day, named)
    return moved + sum(_clear_day(spark, folder, day, set()) for day in days)


def _clear_day(spark: SparkSession, folder: str, day: str, named: set[str]) -> int:
    there = {name for name in names_in(spark, f"{folder}/{day}") if not name.startswith(".")}
    for name in there - named:
        move_file(spark, f"{folder}/{day}/{name}", f"{folder}/{ASIDE}/{day}/{name}")
    return len(there - named)


def _named(spark: SparkSession, files: list[str], days: set[str]) -> Iterator[tuple[str, set[str]]]:
    """Give each day with the names of its files; in parts, each of about one day."""
    if not files:
        return
    day, name = (F.regexp_extract("value", _NAMED, group).alias(to) for group, to in _PARTS)
    lines = spark.read.text(files).where(F.col("value").startswith("{")).select("value", day, name)
    for line in lines.where("day = ''").take(1):
        raise Refused(
            f"a line of the archive's log names no file of a day, so nothing is moved: {line[0]}"
        )
    parted = lines.repartition(len(days) + 1, "day")
    for row in parted.groupBy("day").agg(F.collect_set("name").alias("names")).toLocalIterator():
        yield f"{DATE}={row['day']}", set(row["names"])
