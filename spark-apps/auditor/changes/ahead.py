"""Looks whether anything that a query could read lies ahead of where it stands.

The end of a transaction is a place of its partition, and so is each record of an aborted one: no
reader is given them, but a consumer that reads passes them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from auditor.checkpoints.ranges import Range
from engine.consumers import open_consumer
from engine.failures import first_line
from engine.java import jvm_of
from services.backbone.clock import Clock
from services.backbone.errors import Transient

LOOK_SECONDS: Final = 5.0
"""How long one look may take; the next one goes on from where it came to."""
_WAIT_MS: Final = 1_000
"""The longest that one answer is waited for."""
_FETCH_BYTES: Final = 1024 * 1024
"""Most that one broker sends at once: all of it lies in Java's heap."""

IsClear = Callable[[Sequence[Range]], bool]
"""Whether no record lies in any of these ranges, as far as is known after a bounded look."""


class Ahead:
    """Reads with the options of the queries, so also as strictly as they (`isolation.level`)."""

    def __init__(
        self, spark: SparkSession, client_options: Mapping[str, str], clock: Clock
    ) -> None:
        self._spark, self._client_options, self._clock = spark, client_options, clock
        self._clear: Mapping[tuple[str, int, int], int] = {}
        """For each range of the last look, by its beginning, up to where no record lies."""

    def is_clear(self, ranges: Sequence[Range]) -> bool:
        """Tell whether no record lies in any of the ranges.

        False also where time was too short, or the brokers were silent: it is asked again.

        Raises:
            Transient: the brokers refuse, or no consumer can be made.
        """
        rest = [replace(one, first=self._clear.get(_start(one), one.first)) for one in ranges]
        reached = self._look([one for one in rest if len(one)])
        self._clear = {
            _start(one): reached.get(one.lies_in, left.first)
            for one, left in zip(ranges, rest, strict=True)
        }
        return all(self._clear[_start(one)] >= one.end for one in ranges)

    def _look(self, ranges: Sequence[Range]) -> dict[tuple[str, int], int]:
        """Return by partition up to where no record lies, or how far was seen to be clear."""
        if not ranges:
            return {}
        try:
            with self._consumer() as consumer:
                return self._read(consumer, ranges)
        except Py4JJavaError as error:
            raise Transient(f"Kafka: {first_line(error)}") from None

    @contextmanager
    def _consumer(self) -> Iterator[Any]:
        # What retention has deleted no query reads either.
        more = {"auto.offset.reset": "earliest", "fetch.max.bytes": str(_FETCH_BYTES)}
        consumer = open_consumer(self._spark, self._client_options, more)
        try:
            yield consumer
        finally:
            consumer.close(jvm_of(self._spark).java.time.Duration.ofSeconds(1))

    def _read(self, consumer: Any, ranges: Sequence[Range]) -> dict[tuple[str, int], int]:
        left = self._begin(consumer, ranges)
        reached = {one.lies_in: one.first for one in ranges}
        wait = jvm_of(self._spark).java.time.Duration.ofMillis(_WAIT_MS)
        until_seconds = self._clock.monotonic_seconds() + LOOK_SECONDS
        while left:
            given = consumer.poll(wait)
            for place, one in left:
                found = given.records(place)
                is_none = found.isEmpty()
                clear_to = consumer.position(place, wait) if is_none else found.get(0).offset()
                reached[one.lies_in] = clear_to
                if not is_none and clear_to < one.end:
                    return reached
            left = [(place, one) for place, one in left if reached[one.lies_in] < one.end]
            if self._clock.monotonic_seconds() >= until_seconds:
                break
            consumer.assign([place for place, _ in left])
        return reached

    def _begin(self, consumer: Any, ranges: Sequence[Range]) -> list[tuple[Any, Range]]:
        kind = jvm_of(self._spark).org.apache.kafka.common.TopicPartition
        places = [(kind(one.topic, one.partition), one) for one in ranges]
        consumer.assign([place for place, _ in places])
        for place, one in places:
            consumer.seek(place, one.first)
        return places


def _start(one: Range) -> tuple[str, int, int]:
    return one.topic, one.partition, one.first
