"""Client configuration, the opening of clients and the sorting of their errors, in one place."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from confluent_kafka import KafkaError, KafkaException

from services.backbone.errors import NotTaken, Refused, Transient
from services.backbone.kafka.certificate import note_end
from services.backbone.log import logger
from services.backbone.settings import KafkaSettings

log = logger(__name__)

_REFUSED: Final = frozenset(
    {
        KafkaError.MSG_SIZE_TOO_LARGE,
        KafkaError.RECORD_LIST_TOO_LARGE,
        KafkaError.INVALID_RECORD,
        KafkaError.POLICY_VIOLATION,
        KafkaError.TOPIC_EXCEPTION,
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.GROUP_AUTHORIZATION_FAILED,
        KafkaError.CLUSTER_AUTHORIZATION_FAILED,
        KafkaError.SASL_AUTHENTICATION_FAILED,
        KafkaError.INVALID_CONFIG,
    }
)
_NOT_TAKEN: Final = frozenset(
    {
        KafkaError.INVALID_TIMESTAMP,
        KafkaError._INVALID_DIFFERENT_RECORD,  # noqa: SLF001 - the client's public name for it
    }
)
"""A clock was wrong, or another record that travelled in the same batch."""

OPTIONS: Final = "ALDEBARAN_KAFKA_OPTIONS"
"""The setting that is wrong where a client cannot be opened."""
_MASK: Final = "**********"

Config = dict[str, str | int | float | bool]
Opened = TypeVar("Opened")


def common_config(settings: KafkaSettings, program: str) -> Config:
    """Return what every client is told: where the brokers are, how to enter, to reconnect soon."""
    return {
        **{name: value.get_secret_value() for name, value in settings.kafka_options.items()},
        "bootstrap.servers": settings.kafka_bootstrap_servers,
        "client.id": program,
        "socket.nagle.disable": True,
        "reconnect.backoff.ms": 50,
        "reconnect.backoff.max.ms": 1000,
        # A broker that is gone may not refuse, but be silent: nothing tells a client that another
        # leads by now. The defaults are 30 and 60 s.
        "socket.connection.setup.timeout.ms": 3_000,
        "socket.timeout.ms": 5_000,
        "topic.metadata.refresh.interval.ms": 30_000,
        "log_level": 3,
    }


def member_config(
    settings: KafkaSettings, program: str, group: str, *, from_beginning: bool
) -> Config:
    """Return what a member of a group is told: to hand over at once, to commit nothing itself."""
    named = settings.kafka_group_instance_id
    return common_config(settings, program) | {
        "group.id": group,
        **({"group.instance.id": named} if named else {}),
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "auto.offset.reset": "earliest" if from_beginning else "latest",
        "fetch.wait.max.ms": 100,
        "fetch.error.backoff.ms": 50,
        # As short as brokers let it be: so long nobody reads for a member that was killed.
        "session.timeout.ms": 6_000,
        # So long a member may not know that another has left, and what it is to read now.
        "heartbeat.interval.ms": 500,
        # So long a client waits for the answer to its wish to join; a broker may lose it.
        "max.poll.interval.ms": 30_000,
        "queued.max.messages.kbytes": 16 * 1024,
        "partition.assignment.strategy": "cooperative-sticky",
    }


def opened(
    kind: Callable[[dict[str, Any]], Opened], config: Mapping[str, Any], setting: str = OPTIONS
) -> Opened:
    """Open a client of this kind; `setting` is what a person has to mend if that cannot be.

    Raises:
        Refused: the client has no such option, or can do nothing with its value.
        Transient: it gets no thread or memory now.
    """
    note_end(config)
    try:
        return kind({**config})
    except KafkaException as error:
        if _cause(error).code() != KafkaError._INVALID_ARG:  # noqa: SLF001 - public name
            raise trouble(error) from None
        said = _cause(error).str().strip()
    except (TypeError, ValueError) as error:  # of options that only a program can give
        said = str(error)
    raise Refused(
        f"{setting}: no Kafka client can be opened with it: {_masked(said, config)}; "
        "names and values are those of librdkafka's CONFIGURATION.md, files must be readable here"
    )


def _masked(said: str, config: Mapping[str, Any]) -> str:
    """Return what the client says of its options, without their values: any may be a secret."""
    values = {value for value in config.values() if isinstance(value, str) and value}
    told = sorted({*config, *values}, key=len, reverse=True)
    # Names stand among them so that a value `ssl` leaves `ssl.ca.location` whole.
    either = "|".join(map(re.escape, filter(None, told)))
    return re.sub(either, lambda found: found[0] if found[0] in config else _MASK, said)


def is_fatal(error: KafkaError | KafkaException) -> bool:
    """Tell whether a client has ended for good.

    Only the first to hear of it is told the cause; to everybody else the client says `_FATAL`.
    """
    cause = _cause(error)
    return bool(cause.fatal()) or cause.code() == KafkaError._FATAL  # noqa: SLF001 - public name


def trouble(error: KafkaError | KafkaException) -> Refused | Transient:
    """Sort a client error: no use to repeat, or away for now.

    More copies than brokers is away for now: brokers that start together come one by one.
    """
    cause = _cause(error)
    return _kind(cause.code())(f"Kafka: {cause.str()}")


def _kind(code: int) -> type[Refused | Transient]:
    if code in _REFUSED:
        return Refused
    return NotTaken if code in _NOT_TAKEN else Transient


def _cause(error: KafkaError | KafkaException) -> KafkaError:
    cause: KafkaError = error.args[0] if isinstance(error, KafkaException) else error
    return cause
