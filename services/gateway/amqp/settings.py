"""What the AMQP on-ramp can be told."""

from pathlib import Path
from typing import Annotated

from pydantic import Field, SecretStr

from services.backbone.rabbitmq import AmqpAddress
from services.backbone.settings import Port, Seconds
from services.gateway.amqp.bindings import SHIPPED_BINDINGS
from services.gateway.settings import OnrampSettings


class AmqpSettings(OnrampSettings):
    """What the AMQP on-ramp can be told.

    Prefetch times body limit, for each queue, bounds the bytes of messages in hand.
    """

    http_port: Port = 8081
    """For health and metrics."""
    amqp_url: AmqpAddress = SecretStr("amqp://guest:guest@127.0.0.1:5672/")
    """The RabbitMQ server, with user, password and virtual host; `amqps` with TLS."""
    amqp_bindings_file: Path = SHIPPED_BINDINGS
    """Which queue feeds which stream."""
    amqp_prefetch_messages: Annotated[int, Field(ge=1, le=10_000)] = 64
    """Most messages of a queue that are in hand at once."""
    amqp_connect_timeout_seconds: Seconds = 10.0
    """How long a connection may take to come about."""
