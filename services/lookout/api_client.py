"""How the command line speaks with a running lookout."""

import httpx2
from pydantic import Field

from services.backbone.web.client import ApiClient, OperatorSettings, command_client


class LookoutSettings(OperatorSettings):
    """Where the lookout is, and the operator's key."""

    lookout_url: str = Field(default="http://127.0.0.1:8080", pattern=r"^https?://[^\s]+$")
    """Where the lookout's API is."""


def lookout_client(
    settings: LookoutSettings, transport: httpx2.BaseTransport | None = None
) -> ApiClient:
    """Return what asks the lookout."""
    return command_client("lookout", settings.lookout_url, settings, transport)
