"""What the inbox can be told."""

from pathlib import Path

from services.backbone.settings import Port, Settings
from services.simulator.inbox.faults import InboxDials


class InboxSettings(Settings):
    """Where the inbox listens, where it keeps what came, and how it misbehaves at first."""

    home: Path = Path(".aldebaran")
    http_port: Port = 18089
    inbox_host: str = "127.0.0.1"
    inbox_smtp_port: Port = 18025
    inbox_hook_port: Port = 18090
    inbox_dials: InboxDials = InboxDials()
