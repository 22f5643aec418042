"""Reads what auditors answer to heartbeats, by the Kafka client that Spark has anyway."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, Protocol

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from engine.consumers import open_consumer
from engine.java import BROKEN_OFF, jvm_of
from services.backbone.log import logger
from services.contracts.records import Alert, Malformed
from services.contracts.topics import HEARTBEATS

POLL_MS: Final = 100
"""So long one look waits for answers; the next look goes on from there."""
RECORDS_MAX: Final = 200
"""Most answers, of all auditors and watches, that one look takes."""

log = logger(__name__)


def who_answers(values: Iterable[bytes], watch: str, since_ms: int) -> frozenset[str]:
    """Return the auditors that tell of an event of this watch that was appended since a time.

    `values` are records of the topic of heartbeats; what is no record tells nothing.
    """
    answers = [answer for value in values if (answer := _read(value)) is not None]
    return frozenset(
        answer.auditor
        for answer in answers
        if answer.watch == watch and answer.appended_at_ms >= since_ms
    )


def _read(value: bytes) -> Alert | None:
    try:
        return Alert.decode(value)
    except Malformed:
        return None


class Listening(Protocol):
    """Whoever hears what auditors answer to heartbeats."""

    def fresh(self) -> list[bytes]:
        """Return what has come since the last call; the first call begins to listen."""

    def close(self) -> None:
        """Listen no more."""


class Answers:
    """The records of the topic of heartbeats' answers from now on; used by one thread.

    Where they cannot be read, the log says so once, and there are none.
    """

    def __init__(self, spark: SparkSession, client_options: Mapping[str, str]) -> None:
        self._spark = spark
        self._client_options = client_options
        self._consumer: Any = None
        self._given_up = False

    def fresh(self) -> list[bytes]:
        """Return what has come since the last call; the first call begins to listen."""
        if self._given_up:
            return []
        try:
            if self._consumer is None:
                self._listen()
            return self._poll()
        except Py4JError as error:
            log.warning("answers_not_read", reason=str(error).split("\n", 1)[0])
            self.close()
            return []

    def close(self) -> None:
        """Listen no more."""
        consumer, self._consumer, self._given_up = self._consumer, None, True
        if consumer is None:
            return
        try:
            consumer.close(jvm_of(self._spark).java.time.Duration.ofSeconds(1))
        except BROKEN_OFF as error:
            log.warning("answers_not_closed", reason=str(error).split("\n", 1)[0])

    def _listen(self) -> None:
        jvm = jvm_of(self._spark)
        # Without a group there is no place to go on from.
        more = {"auto.offset.reset": "latest", "max.poll.records": str(RECORDS_MAX)}
        self._consumer = open_consumer(self._spark, self._client_options, more)
        places = jvm.java.util.ArrayList()
        for part in self._consumer.partitionsFor(HEARTBEATS):
            places.add(jvm.org.apache.kafka.common.TopicPartition(HEARTBEATS, part.partition()))
        self._consumer.assign(places)

    def _poll(self) -> list[bytes]:
        wait = jvm_of(self._spark).java.time.Duration.ofMillis(POLL_MS)
        values = [record.value() for record in self._consumer.poll(wait).iterator()]
        return [bytes(value) for value in values if value is not None]
