"""What the inbox can be told."""

from pathlib import Path
from typing import Any

from pydantic import Field

from services.backbone.settings import Port, Settings


class InboxSettings(Settings):
    """Where the inbox listens, where it keeps what came, and how it misbehaves at first."""

    home: Path = Path(".aldebaran")
    http_port: Port = 18089
    inbox_host: str = "127.0.0.1"
    inbox_smtp_port: Port = 18025
    inbox_hook_port: Port = 18090
    inbox_dials: dict[str, dict[str, Any]] = Field(default_factory=dict)
