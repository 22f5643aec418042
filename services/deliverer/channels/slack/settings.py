"""What the Slack channel is told."""

from typing import Annotated

from pydantic import Field, StringConstraints

from services.backbone.certificates import CaFile
from services.backbone.settings import OneLine, Seconds, Settings
from services.contracts.recipients import SLACK_CONVERSATION
from services.contracts.web import ServerAddress

Conversation = Annotated[str, StringConstraints(pattern=SLACK_CONVERSATION.pattern)]


class SlackSettings(Settings):
    """Which bot, and how patient."""

    slack_bot_token: OneLine
    """`xoxb-…`, with the scopes chat:write and, for evidence, channels:history and its like."""
    slack_channels: dict[str, Conversation] = Field(default_factory=dict)
    """Conversation ids by the name that routes use."""
    slack_seconds_between: Annotated[float, Field(ge=0, le=60)] = 1.0
    """Between two messages to one conversation."""
    slack_look_up_after_seconds: tuple[Seconds, ...] = (2.0, 15.0, 60.0, 110.0)
    """When the history is read, from the beginning of a doubt."""
    slack_absence_seconds: Annotated[float, Field(ge=0, le=86_400)] | None = 60.0
    """So long after the lease a message that the history lacks counts as not taken; or never."""
    slack_look_up_timeout_seconds: Seconds = 15.0
    """For one reading of the history."""
    slack_connect_timeout_seconds: Seconds = 5.0
    """How long a connection may take to come about."""
    slack_url: ServerAddress = "https://slack.com/api"
    """Where Slack's API is."""
    slack_ca_file: CaFile | None = None
    """Certificates (PEM) that the server's is checked by, instead of the system's."""

    def conversation(self, recipient: str) -> str | None:
        """Return a recipient's conversation id, or None for an unknown name."""
        if SLACK_CONVERSATION.fullmatch(recipient):
            return recipient
        return self.slack_channels.get(recipient)
