"""What the console can be told."""

from typing import Annotated, Literal

from pydantic import Field

from services.backbone.settings import LedgerSettings


class ConsoleSettings(LedgerSettings):
    """The console has no login yet, so it listens on this machine only."""

    http_host: Literal["127.0.0.1", "localhost"] = "127.0.0.1"
    console_refresh_seconds: Annotated[int, Field(ge=1, le=3600)] = 5
