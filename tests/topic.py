"""Reads a topic to the brokers' ends, and makes and configures topics as their owner does."""

import uuid
from collections.abc import Iterable

from confluent_kafka.admin import (  # type: ignore[attr-defined] # public, and not declared to be
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ConfigSource,
)

from services.backbone.errors import Transient
from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.consumer import Consumer, Incoming
from services.backbone.kafka.settled import Ends
from services.backbone.settings import KafkaSettings
from services.contracts.topics import Topic
from services.machine.waiting import wait_until

POLL_SECONDS = 0.2
ASK_TIMEOUT_SECONDS = 5.0
KNOWN_SECONDS = 20.0
"""A broker knows what its controller has kept a moment later, on a busy machine after seconds."""


class WholeTopic:
    """Reads one topic from its beginning, each record once, over outages of brokers."""

    def __init__(self, kafka: KafkaSettings, topic: str) -> None:
        self._consumer = Consumer(kafka, "tests", group=uuid.uuid4().hex, topics=[topic])
        self._read: Ends = {}
        self._new: list[Incoming] = []

    def read(self) -> list[Incoming]:
        """Return all that has come since the last call, to the end that the brokers name now.

        Silence is not the end: after an outage the client takes a while to come back.
        """
        ends = self._ends()
        while any(self._read.get(place, 0) < end for place, end in ends.items()):
            self._take()
        new, self._new = self._new, []
        return new

    def close(self) -> None:
        """Leave the group."""
        self._consumer.close()

    def _ends(self) -> Ends:
        while True:
            self._take()
            try:
                return self._consumer.ends(ASK_TIMEOUT_SECONDS)
            except Transient:
                continue

    def _take(self) -> None:
        try:
            batch = self._consumer.batch(500, POLL_SECONDS)
        except Transient:
            return
        self._new += batch
        self._read |= {(each.topic, each.partition): each.offset + 1 for each in batch}


def declare_known(kafka: KafkaSettings, topics: Iterable[Topic]) -> None:
    """Create the topics that are missing; return when a broker lists them all."""
    wanted, admin = list(topics), TopicAdmin(kafka, "test")
    admin.declare(wanted)
    until_listed(admin, *(each.name for each in wanted))


def until_listed(admin: TopicAdmin, *names: str) -> None:
    """Return once a broker lists new topics: that is a moment after the controller made them."""
    wait_until(lambda: admin.partitions().keys() >= {*names}, KNOWN_SECONDS, f"not listed: {names}")


def configure(bootstrap: str, topic: str, name: str, value: str | None) -> None:
    """Set one of a topic's settings, or take it back; brokers know it a moment after this."""
    kind = AlterConfigOpType.DELETE if value is None else AlterConfigOpType.SET
    entry = ConfigEntry(name, value, incremental_operation=kind)
    changed = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=[entry])
    client = AdminClient({"bootstrap.servers": bootstrap})
    for answer in client.incremental_alter_configs([changed]).values():
        answer.result(timeout=30)
    wait_until(
        lambda: _set_to(client, topic, name) == value, KNOWN_SECONDS, "the brokers do not have it"
    )


def _set_to(client: AdminClient, topic: str, name: str) -> str | None:
    """Return what its owner has set; None where the brokers' own setting holds."""
    asked = [ConfigResource(ConfigResource.Type.TOPIC, topic)]
    (answer,) = client.describe_configs(asked).values()
    entry = answer.result(timeout=30)[name]
    is_own = ConfigSource(entry.source) is ConfigSource.DYNAMIC_TOPIC_CONFIG
    return entry.value if is_own else None
