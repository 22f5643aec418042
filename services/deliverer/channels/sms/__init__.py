"""SMS by Twilio: one POST per delivery; status callbacks and the list of messages are evidence.

Twilio knows no key by which it would drop a repeat. So whatever got no clear answer is in doubt,
until a signed callback, whose address carries the delivery id, or Twilio's list of messages, where
a short code in the text is looked for, says that the message was taken.
"""

from services.backbone.clock import Clock
from services.backbone.settings import read_settings
from services.deliverer.channels.sms.channel import SmsChannel
from services.deliverer.channels.sms.promise import PROMISE
from services.deliverer.channels.sms.settings import SmsSettings

__all__ = ["PROMISE", "open_channel"]


def open_channel(clock: Clock) -> SmsChannel:
    """Read the settings and make the channel."""
    return SmsChannel(read_settings(SmsSettings), clock)
