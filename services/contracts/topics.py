"""The topic catalogue: the names and shapes of topics stand here, once; streams.py adds theirs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

ALERTS: Final = "alerts"
"""Findings of the auditors, repeats included; key alert_id."""

HEARTBEATS: Final = "heartbeats"
"""Auditors' answers to heartbeat events; key alert_id."""

DELIVERY_EVENTS: Final = "delivery-events"
"""Moves of deliveries, for people and pages; key delivery_id."""

NOTIFICATIONS: Final = "notifications"
"""The one topic of ours that the bus channel may write to; key delivery_id."""

ACCOUNTS: Final = "accounts"
"""Rows of accounts: what no watch judged, and why; key accounted_id."""

REJECTED_SUFFIX: Final = ".rejected"
HEARTBEAT_SUFFIX: Final = ".heartbeat"

APPEND_TIME: Final = "LogAppendTime"
"""A record's time is when the brokers had it; so Kafka calls it in `message.timestamp.type`."""
CREATE_TIME: Final = "CreateTime"
"""It is what the publisher says, as with topics that are declared without a word."""

REJECTED_LIMIT_BYTES: Final = 8 * 1024 * 1024
"""Largest record of a rejected topic: the largest request body, written in base64."""

_HOUR_MS: Final = 3_600_000
_ONE_EACH: Final[Mapping[str, int]] = MappingProxyType({})


def deliveries(channel: str) -> str:
    """Return the topic of one channel's deliveries; key delivery_id."""
    return f"deliveries.{channel}"


def rejected(topic: str) -> str:
    """Return the topic that keeps what could not be used of another topic."""
    return topic + REJECTED_SUFFIX


def heartbeat(stream: str) -> str:
    """Return the topic of a stream's heartbeat events."""
    return stream + HEARTBEAT_SUFFIX


@dataclass(frozen=True, slots=True)
class Topic:
    """The shape of one topic."""

    name: str
    partitions: int = 1
    replication: int = 1
    retention_hours: int = 168
    append_time: bool = False
    message_limit_bytes: int = 1024 * 1024
    grows: bool = False
    """Whether partitions may be added later: nothing that is kept hangs on where a key lies."""

    def with_copies(self, least: int) -> "Topic":
        """Return the topic with at least so many copies."""
        return replace(self, replication=max(self.replication, least))

    def config(self) -> dict[str, str]:
        """Return the topic's settings as Kafka spells them."""
        return {
            "cleanup.policy": "delete",
            "retention.ms": str(self.retention_hours * _HOUR_MS),
            "message.timestamp.type": APPEND_TIME if self.append_time else CREATE_TIME,
            "max.message.bytes": str(self.message_limit_bytes),
            "min.insync.replicas": str(min(2, self.replication)),
        }


def shared_topics(channels: Iterable[str]) -> tuple[str, ...]:
    """Return the topics whose records several processes of one program share by partitions."""
    return (ALERTS, *(deliveries(channel) for channel in channels))


def core_topics(
    channels: Iterable[str], partitions: Mapping[str, int] = _ONE_EACH
) -> tuple[Topic, ...]:
    """Return the topics between the programs, for these channels.

    `partitions` are those of shared topics by name; a topic that is not in it has one.
    """
    shared = shared_topics(channels)
    plain = (HEARTBEATS, DELIVERY_EVENTS, NOTIFICATIONS, ACCOUNTS)
    return (
        *(Topic(name, partitions=partitions.get(name, 1), grows=True) for name in shared),
        *(Topic(name) for name in plain),
        *(Topic(rejected(name), message_limit_bytes=REJECTED_LIMIT_BYTES) for name in shared),
    )


def is_shared(name: str) -> bool:
    """Tell whether a topic of this name is shared by processes of one program, for any channel."""
    return name == ALERTS or name.startswith(deliveries(""))


def is_core(name: str) -> bool:
    """Tell whether a topic of this name lies between the programs, whatever channels there are."""
    fixed = {topic.name for topic in core_topics(())}
    return name in fixed or is_shared(name)


def is_own(name: str) -> bool:
    """Tell whether a topic of this name is ours, or may come to be, so that no stream has it."""
    return is_core(name) or name.endswith((REJECTED_SUFFIX, HEARTBEAT_SUFFIX))
