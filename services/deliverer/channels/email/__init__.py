"""E-mail: one message for one recipient through an SMTP relay, each step driven by ourselves.

A relay takes a message with the dot that ends it. So the send window is checked, and opened, right
before the content with its dot is written: all that fails earlier is provably not taken. The
Message-ID is made of the delivery id, so that a relay's log can be searched for it.
"""

from services.backbone.clock import Clock
from services.backbone.settings import read_settings
from services.deliverer.channels.email.channel import EmailChannel
from services.deliverer.channels.email.promise import PROMISE
from services.deliverer.channels.email.settings import EmailSettings

__all__ = ["PROMISE", "open_channel"]


def open_channel(clock: Clock) -> EmailChannel:
    """Read the settings and make the channel."""
    return EmailChannel(read_settings(EmailSettings), clock)
