"""iPhone push by APNs over HTTP/2; apns-id and collapse id are made of the delivery id.

Apple merges notifications of one collapse id into one item on the screen, so after a doubt the
same goes out again with the same ids. Apple keeps only the newest notification for a phone that
is offline, and tells nobody whether a person saw it: routes should ask for an acknowledgement,
with a fallback.
"""

from services.backbone.clock import Clock
from services.backbone.ledger.deliveries.dropped import DroppedAddresses
from services.backbone.settings import read_settings
from services.deliverer.channels.push.channel import PROMISE, PushChannel
from services.deliverer.channels.push.settings import PushSettings

__all__ = ["PROMISE", "open_channel"]


def open_channel(clock: Clock) -> PushChannel:
    """Read the settings and make the channel."""
    settings = read_settings(PushSettings)
    return PushChannel(settings, DroppedAddresses(settings, "push"), clock)
