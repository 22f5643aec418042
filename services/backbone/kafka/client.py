"""Client configuration and the sorting of client errors, in one place."""

from typing import Final

from confluent_kafka import KafkaError, KafkaException

from services.backbone.errors import Refused, Transient
from services.backbone.log import logger
from services.backbone.settings import KafkaSettings

log = logger(__name__)

_REFUSED: Final = frozenset(
    {
        KafkaError.MSG_SIZE_TOO_LARGE,
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.GROUP_AUTHORIZATION_FAILED,
        KafkaError.CLUSTER_AUTHORIZATION_FAILED,
        KafkaError.SASL_AUTHENTICATION_FAILED,
        KafkaError.INVALID_CONFIG,
        KafkaError.INVALID_REPLICATION_FACTOR,
    }
)


def common_config(settings: KafkaSettings, program: str) -> dict[str, str | int | float | bool]:
    """Return what every client is told: where the brokers are, how to enter, to reconnect soon."""
    return {
        **{name: value.get_secret_value() for name, value in settings.kafka_options.items()},
        "bootstrap.servers": settings.kafka_bootstrap_servers,
        "client.id": program,
        "socket.nagle.disable": True,
        "reconnect.backoff.ms": 50,
        "reconnect.backoff.max.ms": 1000,
        # A broker's pod that is gone does not refuse, it is silent; the default is 30 s.
        "socket.connection.setup.timeout.ms": 5000,
        "topic.metadata.refresh.interval.ms": 30_000,
        "log_level": 3,
    }


def trouble(error: KafkaError | KafkaException) -> Refused | Transient:
    """Sort a client error: no use to repeat, or away for now."""
    cause = error.args[0] if isinstance(error, KafkaException) else error
    kind = Refused if cause.code() in _REFUSED else Transient
    return kind(f"Kafka: {cause.str()}")
