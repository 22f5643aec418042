"""What the AMQP on-ramp can be told."""

from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, SecretStr, model_validator

from services.backbone.amqp.rabbitmq import AmqpAddress, certificates_for, files_named
from services.backbone.certificates import CaFile, Certificates
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
    amqp_ca_file: CaFile | None = None
    """A CA of your own for `amqps`; without it, those that the system trusts."""
    amqp_certificate_file: str | None = None
    """Our own certificate, with its key unless that is in a file of its own."""
    amqp_key_file: str | None = None
    """The file of its key."""
    amqp_bindings_file: Path = SHIPPED_BINDINGS
    """Which queue feeds which stream."""
    amqp_prefetch_messages: Annotated[int, Field(ge=1, le=10_000)] = 64
    """Most messages of a queue that are in hand at once."""
    amqp_connect_timeout_seconds: Seconds = 10.0
    """How long a connection may take to come about."""

    @model_validator(mode="after")
    def _our_own_can_be_shown(self) -> Self:
        self.certificates()
        return self

    @model_validator(mode="after")
    def _files_are_named_in_one_place(self) -> Self:
        if self._names_files and (named := files_named(self.amqp_url)):
            told = ", ".join(f"`{each}`" for each in named)
            beside = "amqp_ca_file and amqp_certificate_file: name all files in these settings"
            raise ValueError(f"amqp_url: {told} would not count beside {beside}")
        return self

    def certificates(self) -> Certificates | None:
        """Return how the server is checked; None without TLS, or where none is set."""
        if not self._names_files:
            return None  # an address could always name files: `?cafile=`
        own = self.amqp_certificate_file, self.amqp_key_file
        return certificates_for("amqp", self.amqp_url, self.amqp_ca_file, *own)

    @property
    def _names_files(self) -> bool:
        return bool(self.amqp_ca_file or self.amqp_certificate_file)
