"""Declares topics: creates what is missing, adds partitions where that is safe, else refuses."""

import math
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Final

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import (  # type: ignore[attr-defined] # public, and not declared to be
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    TopicMetadata,
)
from confluent_kafka.cimpl import NewPartitions, NewTopic

from services.backbone.errors import NoTopic, Refused, Transient
from services.backbone.kafka.client import common_config, opened, trouble
from services.backbone.kafka.sayings import Sayings
from services.backbone.settings import KafkaSettings
from services.contracts.topics import CREATE_TIME, Topic

_HOUR_MS: Final = 3_600_000


@dataclass(frozen=True, slots=True)
class Kept:
    """How the brokers keep a topic's records."""

    with_publishers_times: bool
    """Whether a record's time is what its publisher says, not when the brokers had it."""
    message_limit_bytes: int


class TopicAdmin:
    """Asks and tells the brokers about topics.

    Raises:
        Refused: at its making, by options that the client cannot be opened with.
    """

    def __init__(self, settings: KafkaSettings, program: str, timeout_seconds: float = 10) -> None:
        self._config = common_config(settings, program)
        self._sayings = Sayings()
        self._client = self._open()
        self._timeout_seconds = timeout_seconds

    def partitions(self) -> dict[str, int]:
        """Return the number of partitions by topic.

        Raises:
            Transient: the brokers cannot be reached.
        """
        return {name: len(topic.partitions) for name, topic in self._listed().items()}

    def copies(self) -> dict[str, int]:
        """Return by topic how many copies there are of the partition that has the fewest.

        Raises:
            Transient: the brokers cannot be reached.
        """
        return {
            name: min(len(each.replicas) for each in topic.partitions.values())
            for name, topic in self._listed().items()
            if topic.partitions
        }

    def _listed(self) -> dict[str, TopicMetadata]:
        asked = self._client
        try:
            return asked.list_topics(timeout=self._timeout_seconds).topics
        except KafkaException as error:
            # A client may have forgotten all brokers, see known_brokers.py; a new one has not.
            self._client = self._open()
            raise Transient(f"Kafka: {error.args[0].str()}") from None
        finally:
            asked.poll(0)  # only so what it says comes into our log

    def retention_hours(self, topic: str) -> float:
        """Return for how long the brokers keep a topic's records; infinite where they always do.

        Raises:
            Transient: the brokers cannot be reached, or have no such topic.
            Refused: they do not tell this program.
        """
        return _hours(self._config_of(topic)["retention.ms"])

    def kept(self, topic: str) -> Kept:
        """Return how a topic's records are kept.

        Raises:
            NoTopic: there is no such topic.
            Transient: the brokers cannot be reached.
            Refused: they do not tell this program.
        """
        config = self._config_of(topic)
        return Kept(
            with_publishers_times=config.get("message.timestamp.type") == CREATE_TIME,
            message_limit_bytes=int(config["max.message.bytes"]),
        )

    def readable_hours(self, topic: str) -> float:
        """Return for how long a record of a topic may be read at most; infinite where only its
        size or its key bounds that.

        Raises:
            NoTopic: there is no such topic.
            Transient: the brokers cannot be reached.
            Refused: they do not tell this program.
        """
        config = self._config_of(topic)
        if "delete" not in config["cleanup.policy"]:
            return math.inf
        # A segment goes as a whole, once its last record is old enough.
        return _hours(config["retention.ms"]) + _hours(config["segment.ms"])

    def _config_of(self, topic: str) -> dict[str, str]:
        asked = [ConfigResource(ConfigResource.Type.TOPIC, topic)]
        answers = self._client.describe_configs(asked, request_timeout=self._timeout_seconds)
        try:
            (found,) = [answer.result() for answer in answers.values()]
        except KafkaException as error:
            raise _trouble_with(topic, error) from None
        finally:
            self._client.poll(0)
        return {name: entry.value or "" for name, entry in found.items()}

    def keep(self, topic: str, hours: int) -> None:
        """Have the brokers keep a topic's records for so long from now on; older ones go.

        Raises:
            Transient: the brokers cannot be reached, or have no such topic.
            Refused: they do not let this program say so.
        """
        entry = ConfigEntry(
            "retention.ms",
            str(hours * _HOUR_MS),
            incremental_operation=AlterConfigOpType.SET,
        )
        asked = [ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=[entry])]
        told = self._client.incremental_alter_configs(asked, request_timeout=self._timeout_seconds)
        try:
            for answer in told.values():
                answer.result()
        except KafkaException as error:
            raise _trouble_with(topic, error) from None
        finally:
            self._client.poll(0)

    def declare(self, topics: Iterable[Topic]) -> list[str]:
        """Create topics that are missing, let small ones grow; return the names of both.

        What another did since the brokers were asked is left as it is, and not named.

        Raises:
            Transient: the brokers cannot be reached.
            Refused: a topic has too few partitions and must not grow, or cannot be created.
        """
        wanted = {topic.name: topic for topic in topics}
        present = self.partitions()
        small = [topic for name, topic in wanted.items() if _is_small(topic, present.get(name))]
        for topic in small:
            if not topic.grows:
                raise Refused(_too_few(topic.name, present[topic.name], topic.partitions))
        missing = [topic for name, topic in wanted.items() if name not in present]
        return self._create(missing) + self._grow(small)

    def _grow(self, small: list[Topic]) -> list[str]:
        if not small:
            return []
        requests = [NewPartitions(topic.name, topic.partitions) for topic in small]
        # Brokers say this of a topic that has as many partitions or more.
        return self._done(self._client.create_partitions(requests), KafkaError.INVALID_PARTITIONS)

    def _create(self, missing: list[Topic]) -> list[str]:
        if not missing:
            return []
        requests = [
            NewTopic(
                topic.name,
                num_partitions=topic.partitions,
                replication_factor=topic.replication,
                config=topic.config(),
            )
            for topic in missing
        ]
        return self._done(self._client.create_topics(requests), KafkaError.TOPIC_ALREADY_EXISTS)

    def _open(self) -> AdminClient:
        return opened(AdminClient, self._config | {"logger": self._sayings})

    def _done(self, answers: Mapping[str, Future[None]], done_before: int) -> list[str]:
        """Return the topics for which this was done now, and not by another before."""
        done = []
        for name, answer in answers.items():
            try:
                answer.result(timeout=self._timeout_seconds)
            except KafkaException as error:
                if error.args[0].code() != done_before:
                    raise trouble(error) from None
            else:
                done.append(name)
        return done


def _trouble_with(topic: str, error: KafkaException) -> Refused | Transient:
    sorted_error = trouble(error)
    is_absent = error.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART
    kind = NoTopic if is_absent else type(sorted_error)
    return kind(f"topic {topic}: {sorted_error}")


def _hours(span_ms: str) -> float:
    """Return a span as the brokers have it; below 0 it never ends."""
    return math.inf if int(span_ms) < 0 else int(span_ms) / _HOUR_MS


def _is_small(topic: Topic, present: int | None) -> bool:
    return present is not None and present < topic.partitions


def _too_few(name: str, present: int, declared: int) -> str:
    return (
        f"topic {name} has {present} partitions, declared are {declared}: more partitions would "
        "move keys while their state stays; declare a new stream, or set partitions back"
    )
