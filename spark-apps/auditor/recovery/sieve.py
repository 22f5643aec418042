"""Runs a watch's SQL over a few records by themselves, as a batch, and keeps one of them aside."""

import json
import threading
from functools import cached_property, partial

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from auditor.checkpoints.ranges import Range
from auditor.checkpoints.spared import Place, read_spared
from auditor.queries.declared import Declared
from auditor.queries.query import Recipe, messages_of, prefixed, without
from auditor.recovery.retrial import fails
from engine.failures import first_line
from engine.options import KEEPING_ASIDE
from services.backbone.errors import Transient
from services.contracts.records import Rejected
from services.contracts.topics import heartbeat, rejected


class Sieve:
    """Reads the records of one watch beside its query; `broken_off` may be set by any thread."""

    def __init__(self, recipe: Recipe, broken_off: threading.Event) -> None:
        self._recipe = recipe
        self._broken_off = broken_off

    @cached_property
    def _apart(self) -> SparkSession:
        """Of its own: views are named like streams, and a query may start meanwhile."""
        return self._recipe.spark.newSession()

    @property
    def _group(self) -> str:
        return f"sieve {self._recipe.declared.name}"

    def cancel(self) -> None:
        """End the run that is under way; to be called again until it has ended."""
        self._recipe.spark.sparkContext.cancelJobGroup(self._group)

    def fails(self, part: Range) -> bool:
        """Run the watch over these records only; as `fails_as`."""
        return self.fails_as(self._recipe.declared, part)

    def fails_as(self, declared: Declared, part: Range) -> bool:
        """Run the watch, as it is declared there, over these records only, without any state.

        Return whether it fails on what they say.

        Raises:
            Transient: it could not be run, or was broken off.
        """
        return fails(partial(self._failure, declared, part))

    def _failure(self, declared: Declared, part: Range, with_records: bool) -> Exception | None:
        """Return what the run over these records ends with; without them, they are still read."""
        if self._broken_off.is_set():
            raise Transient("the search for the record was broken off")
        recipe = self._recipe
        spared = read_spared(recipe.checkpoint.folder)
        recipe.spark.sparkContext.setJobGroup(self._group, "search for a record", True)

        def records(stream: str) -> DataFrame:
            mine = part.topic in (stream, heartbeat(stream))
            read = self._batch(part) if mine else self._batch(part).where(F.lit(False))
            # Spark cannot tell before it has read them that there are none.
            return without(read if with_records else read.where(F.col("offset") < 0), spared)

        try:
            messages = messages_of(self._apart, declared, records, "search")
            messages.write.format("noop").mode("overwrite").save()
        except (PySparkException, Py4JJavaError) as error:
            return error
        return None

    def keep_aside(self, place: Place, reason: str, now_ms: int) -> None:
        """Copy the record to its stream's rejected topic, whole and with the reason.

        Raises:
            Transient: it cannot be read or written now.
        """
        watch = self._recipe.declared.watch
        streams = {topic: name for name in watch.streams for topic in (name, heartbeat(name))}
        where = Range(place.topic, place.partition, place.offset, place.offset + 1)
        try:
            row = self._batch(where).select("key", "value").first()
            aside = Rejected.of(
                topic=place.topic,
                source=f"watch {watch.watch}",
                reason="watch-failed",
                detail=f"{place.topic}/{place.partition}@{place.offset}: {reason}",
                original=bytes(row["value"] or b"") if row else b"",
                at_ms=now_ms,
            )
            rows = [(row["key"] if row else None, aside.encode())]
            frame = self._apart.createDataFrame(rows, "key binary, value binary")
            writer = frame.write.format("kafka").options(**prefixed(self._recipe.settings))
            writer.options(**KEEPING_ASIDE).option("topic", rejected(streams[place.topic])).save()
        except (PySparkException, Py4JJavaError) as error:
            raise Transient(f"the record cannot be kept aside: {first_line(error)}") from None

    def _batch(self, part: Range) -> DataFrame:
        """Read exactly these records, as a batch."""
        number = str(part.partition)
        reader = self._apart.read.format("kafka").options(**prefixed(self._recipe.settings))
        return (
            reader.option("assign", json.dumps({part.topic: [part.partition]}))
            .option("startingOffsets", json.dumps({part.topic: {number: part.first}}))
            .option("endingOffsets", json.dumps({part.topic: {number: part.end}}))
            .load()
        )
