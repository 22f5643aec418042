"""Asks the brokers about topics, with the Kafka client that Spark has anyway."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from engine.java import jvm_of
from services.backbone.errors import Refused, Transient
from services.backbone.log import logger
from services.contracts.topics import CREATE_TIME

TIMEOUT_MS: Final = 10_000
_READ_ALL: Final = "read_uncommitted"
_LEVELS: Final = {_READ_ALL: "READ_UNCOMMITTED", "read_committed": "READ_COMMITTED"}
"""Java's names of the client's two values of `isolation.level`."""

log = logger(__name__)

_unknown: set[str] = set()
"""Topics of which it has been said; each watch that starts asks again."""


class MissingTopic(Refused):
    """A topic does not exist; whoever declares it may only be late."""


class Brokers:
    """Asks about topics, with one client that whoever opened it closes."""

    def __init__(self, jvm: Any, admin: Any) -> None:
        self._jvm = jvm
        self._admin = admin

    def partition_counts(self, topics: Iterable[str]) -> dict[str, int]:
        """Return the number of partitions by topic.

        Raises:
            MissingTopic: a topic does not exist.
            Transient: the brokers do not answer.
        """
        return {topic: _count(self._jvm, self._admin, topic) for topic in topics}

    def with_publishers_times(self, topics: Iterable[str]) -> list[str]:
        """Return the topics whose records' times are what their publishers say.

        Of those of which the brokers do not tell this client nothing is known; the log says so
        once.
        """
        return [topic for topic in topics if _stamp(self._jvm, self._admin, topic) == CREATE_TIME]


@contextmanager
def asking(spark: SparkSession, client_options: Mapping[str, str]) -> Iterator[Brokers]:
    """Give what asks about topics, with one client for all questions.

    Raises:
        Refused: the client's options cannot be used.
    """
    with _admin(spark, client_options) as (jvm, admin):
        yield Brokers(jvm, admin)


def kept_offsets(
    spark: SparkSession, client_options: Mapping[str, str], topics: Iterable[str]
) -> tuple[dict[str, dict[int, int]], dict[str, dict[int, int]]]:
    """Return the oldest kept offset, and the offset of the next record, by topic and partition.

    To whom reads only what is committed nothing is there behind a transaction that goes on.

    Raises:
        MissingTopic: a topic does not exist.
        Refused: the client's options cannot be used.
        Transient: the brokers do not answer.
    """
    level = _level(client_options)
    with _admin(spark, client_options) as (jvm, admin):
        counts = {topic: _count(jvm, admin, topic) for topic in topics}
        spec = jvm.org.apache.kafka.clients.admin.OffsetSpec
        oldest = _offsets(jvm, admin, counts, spec.earliest)
        return oldest, _offsets(jvm, admin, counts, spec.latest, level)


def _level(client_options: Mapping[str, str]) -> str:
    given = client_options.get("isolation.level", _READ_ALL)
    if given not in _LEVELS:
        raise Refused(f"Kafka client: isolation.level is {given!r}, may be {', '.join(_LEVELS)}")
    return _LEVELS[given]


OffsetsSince = Callable[[int], dict[str, dict[int, int]]]
"""From a time in ms: by topic and partition, the first record appended since, else the end."""


@contextmanager
def asking_by_time(
    spark: SparkSession, client_options: Mapping[str, str], topics: Iterable[str]
) -> Iterator[OffsetsSince]:
    """Give what finds places by time, with one client for all questions.

    Raises:
        MissingTopic: a topic does not exist.
        Refused: the client's options cannot be used.
        Transient: the brokers do not answer; the given function raises it too.
    """
    with _admin(spark, client_options) as (jvm, admin):
        counts = {topic: _count(jvm, admin, topic) for topic in topics}
        spec = jvm.org.apache.kafka.clients.admin.OffsetSpec

        def since(at_ms: int) -> dict[str, dict[int, int]]:
            found = _offsets(jvm, admin, counts, lambda: spec.forTimestamp(at_ms))
            ends = _offsets(jvm, admin, counts, spec.latest)
            return {
                topic: {
                    number: ends[topic][number] if offset < 0 else offset
                    for number, offset in partitions.items()
                }
                for topic, partitions in found.items()
            }

        yield since


@contextmanager
def _admin(spark: SparkSession, client_options: Mapping[str, str]) -> Iterator[tuple[Any, Any]]:
    jvm = jvm_of(spark)
    properties = jvm.java.util.Properties()
    for name, value in client_options.items():
        properties.setProperty(name, value)
    properties.setProperty("default.api.timeout.ms", str(TIMEOUT_MS))
    properties.setProperty("request.timeout.ms", str(TIMEOUT_MS))
    try:
        admin = jvm.org.apache.kafka.clients.admin.AdminClient.create(properties)
    except Py4JJavaError as error:
        raise Refused(f"Kafka client: {_cause(error)}") from None
    try:
        yield jvm, admin
    finally:
        admin.close(jvm.java.time.Duration.ofSeconds(1))


def _offsets(
    jvm: Any,
    admin: Any,
    counts: Mapping[str, int],
    at: Callable[[], Any],
    isolation: str = _LEVELS[_READ_ALL],
) -> dict[str, dict[int, int]]:
    asked = jvm.java.util.HashMap()
    places = {
        (topic, number): jvm.org.apache.kafka.common.TopicPartition(topic, number)
        for topic, count in counts.items()
        for number in range(count)
    }
    for place in places.values():
        asked.put(place, at())
    found: dict[str, dict[int, int]] = {topic: {} for topic in counts}
    try:
        level = jvm.org.apache.kafka.common.IsolationLevel.valueOf(isolation)
        options = jvm.org.apache.kafka.clients.admin.ListOffsetsOptions(level)
        answer = admin.listOffsets(asked, options).all().get()
    except Py4JJavaError as error:
        raise Transient(f"Kafka: {_cause(error)}") from None
    for (topic, number), place in places.items():
        found[topic][number] = int(answer.get(place).offset())
    return found


def _count(jvm: Any, admin: Any, topic: str) -> int:
    names = jvm.java.util.List.of(topic)
    try:
        described = admin.describeTopics(names)
        return int(described.allTopicNames().get().get(topic).partitions().size())
    except Py4JJavaError as error:
        cause = _cause(error)
        if "UnknownTopicOrPartition" in cause:
            raise MissingTopic(
                f"topic {topic} does not exist: run python -m services.topics, or correct the "
                "declaration's streams"
            ) from None
        raise Transient(f"Kafka: {cause}") from None


def _stamp(jvm: Any, admin: Any, topic: str) -> str | None:
    kind = jvm.org.apache.kafka.common.config.ConfigResource
    asked = kind(kind.Type.TOPIC, topic)
    try:
        config = admin.describeConfigs(jvm.java.util.List.of(asked)).all().get().get(asked)
    except Py4JJavaError as error:
        _say_unknown(topic, _cause(error))
        return None
    entry = config.get("message.timestamp.type")
    return None if entry is None else str(entry.value())


def _say_unknown(topic: str, reason: str) -> None:
    if topic not in _unknown:
        _unknown.add(topic)
        log.warning(
            "times_unknown",
            topic=topic,
            reason=reason,
            next="allow DescribeConfigs, or see that message.timestamp.type is LogAppendTime",
        )


def _cause(error: Py4JJavaError) -> str:
    raised = error.java_exception
    while raised.getCause() is not None:
        raised = raised.getCause()
    return str(raised.toString())
