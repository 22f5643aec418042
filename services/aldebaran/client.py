"""How the command line speaks with a running console."""

import httpx2
from pydantic import Field

from services.backbone.web.client import ApiClient, OperatorSettings, command_client


class CommandSettings(OperatorSettings):
    """Where the console is, and the operator's key."""

    console_url: str = Field(default="http://127.0.0.1:18080", pattern=r"^https?://[^\s]+$")


def console_client(
    settings: CommandSettings, transport: httpx2.BaseTransport | None = None
) -> ApiClient:
    """Return what asks the console."""
    return command_client("console", settings.console_url, settings, transport)
