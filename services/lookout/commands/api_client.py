"""How the command line speaks with a running lookout."""

import httpx2

from services.backbone.web.client import ApiClient, OperatorSettings, command_client
from services.contracts.web import ServerAddress


class LookoutSettings(OperatorSettings):
    """Where the lookout is, and the operator's key."""

    lookout_url: ServerAddress = "http://127.0.0.1:8080"
    """Where the lookout's API is."""


def lookout_client(
    settings: LookoutSettings, transport: httpx2.BaseTransport | None = None
) -> ApiClient:
    """Return what asks the lookout."""
    return command_client("lookout", settings.lookout_url, settings, transport)
