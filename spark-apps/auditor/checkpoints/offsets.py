"""How far a query has come, read from its checkpoint and compared with the brokers."""

import json
from collections.abc import Mapping

from pyspark.sql import SparkSession

from auditor.checkpoints.ranges import Range
from engine.folders import names_in, text_of

Offsets = Mapping[str, Mapping[int, int]]
"""By topic and partition: the offset of the next record."""


def committed(spark: SparkSession, location: str) -> Offsets:
    """Return where the query will go on reading; empty if it has committed nothing.

    Raises:
        OSError: they cannot be reached.
        ValueError: Spark's notes cannot be read.
    """
    newest = newest_commit(spark, location)
    return {} if newest is None else read_by(spark, location, newest)


def read_by(spark: SparkSession, location: str, batch: int) -> Offsets:
    """Return where the query went on reading after a batch that is through.

    Raises:
        OSError: Spark's note of it cannot be reached.
        ValueError: it cannot be read.
    """
    offsets: dict[str, dict[int, int]] = {}
    for line in text_of(spark, f"{location}/offsets/{batch}").splitlines()[2:]:
        for topic, partitions in json.loads(line).items():
            offsets[topic] = {int(number): int(offset) for number, offset in partitions.items()}
    return offsets


def committed_watermark_ms(spark: SparkSession, location: str) -> int:
    """Return the watermark that the query goes on with; 0 if it has none yet.

    Raises:
        OSError: it cannot be reached.
        ValueError: Spark's notes cannot be read.
    """
    newest = newest_commit(spark, location)
    if newest is None:
        return 0
    note = text_of(spark, f"{location}/commits/{newest}")
    return int(json.loads(note.partition("\n")[2]).get("nextBatchWatermarkMs", 0))


def newest_commit(spark: SparkSession, location: str) -> int | None:
    """Return the number of the last batch that is through, None before the first.

    Raises:
        OSError: the checkpoint cannot be reached.
    """
    names = names_in(spark, f"{location}/commits")
    return max((int(name) for name in names if name.isdigit()), default=None)


def unread(read: Offsets, begin: Offsets, end: Offsets) -> list[Range]:
    """Return what lies on the brokers and was not committed, without what is empty."""
    ranges = [
        Range(topic, number, max(begin[topic][number], read.get(topic, {}).get(number, 0)), last)
        for topic, partitions in end.items()
        for number, last in partitions.items()
    ]
    return [one for one in ranges if len(one)]


def lost(read: Offsets, begin: Offsets) -> list[Range]:
    """Return what the brokers deleted before it was committed."""
    ranges = [
        Range(topic, number, offset, begin[topic][number])
        for topic, partitions in read.items()
        for number, offset in partitions.items()
        if number in begin.get(topic, {})
    ]
    return [one for one in ranges if len(one)]


def behind(read: Offsets, newest: Offsets) -> int:
    """Return how many records lie between."""
    return sum(
        max(0, end - read.get(topic, {}).get(number, 0))
        for topic, partitions in awaited(read, newest).items()
        for number, end in partitions.items()
    )


def awaited(read: Offsets, newest: Offsets) -> Offsets:
    """Leave out topics that a watch lists and its query does not read: it would never catch up.

    A query that has read anything has a place in each topic that it reads.
    """
    return {topic: ends for topic, ends in newest.items() if topic in read or not read}
