"""What the callbacks' door can be told; a provider's own settings are in the provider's file."""

from typing import Annotated

from pydantic import Field

from services.backbone.settings import LedgerSettings, Port, Seconds
from services.backbone.web.links import LinkSettings


class CallbacksSettings(LedgerSettings, LinkSettings):
    """Where the door is. Health and metrics are on `http_port`, which is not for the public."""

    http_port: Port = 18093
    """For health and metrics, not for the public."""
    callbacks_host: str = "127.0.0.1"
    """The address on which the public door listens."""
    callbacks_port: Port = 18094
    """Its port."""
    callbacks_body_limit_bytes: Annotated[int, Field(ge=1024, le=1024 * 1024)] = 64 * 1024
    """Largest body of a callback."""
    callbacks_body_timeout_seconds: Seconds = 10.0
    """How long a body may take to come."""
