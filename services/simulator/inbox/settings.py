"""What the inbox can be told."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, SecretStr

from services.backbone.settings import Port, Settings


class InboxSettings(Settings):
    """Where the inbox listens, where it keeps what came, and how it misbehaves at first."""

    home: Path = Path(".aldebaran")
    """The folder of all state; mails and the list of what came are in it."""
    http_port: Port = 18089
    """For the page of what came, health and metrics."""
    inbox_host: str = "127.0.0.1"
    """The address on which it plays every provider."""
    inbox_smtp_port: Port = 18025
    """Where it takes mails."""
    inbox_hook_port: Port = 18090
    """Where it takes webhooks, and plays all providers with an HTTP API."""
    inbox_nagios_spool: Path | None = None
    """A folder that is read as Nagios reads its spool of check results."""
    inbox_rabbitmq_url: SecretStr | None = None
    """A RabbitMQ of which the inbox reads one queue, which it declares."""
    inbox_rabbitmq_queue: Annotated[str, Field(min_length=1, max_length=255)] = "desk"
    """That queue's name."""
    inbox_dials: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """How each way in misbehaves from the start, by way and dial."""
