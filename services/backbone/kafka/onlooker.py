"""A client that looks at topics for people, outside of any group: it keeps nothing."""

from typing import Final

from confluent_kafka import KafkaError, KafkaException, Message

from services.backbone.kafka.client import Config, common_config
from services.backbone.settings import KafkaSettings

POLL_SECONDS: Final = 0.2
READ_AHEAD_KIBIBYTES: Final = 4 * 1024
"""So much a client fetches beyond what was asked of it; librdkafka's default is 64 MiB."""
GROUP: Final = "window"
"""Joined by nobody; the client asks for it all the same, which takes the right to describe it."""


def onlooker_config(settings: KafkaSettings, group: str = GROUP) -> Config:
    """Return what such a client is told."""
    return common_config(settings, group) | {
        "group.id": group,
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "enable.partition.eof": True,
        "fetch.wait.max.ms": 50,
        "queued.max.messages.kbytes": READ_AHEAD_KIBIBYTES,
        # Else a client rests for a second each time that its queue is full.
        "fetch.queue.backoff.ms": 10,
    }


def is_end(message: Message) -> bool:
    """Tell whether this is the end of a partition instead of a record.

    Raises:
        KafkaException: it is neither, but what the brokers say of a trouble.
    """
    error = message.error()
    if error is None:
        return False
    if error.code() != KafkaError._PARTITION_EOF:  # noqa: SLF001 - the client's public name for it
        raise KafkaException(error)
    return True
