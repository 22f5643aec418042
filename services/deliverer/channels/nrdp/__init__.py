"""NRDP: a passive check result to a distant Nagios over HTTP, as its own clients post it.

NRDP answers HTTP 200 to everything, also to what it refuses; the status in the answer's body
decides. It gives each result a new file name, so what it gets twice is two results.
"""

from services.backbone.clock import Clock
from services.backbone.settings import read_settings
from services.deliverer.channels.nrdp.channel import NrdpChannel
from services.deliverer.channels.nrdp.promise import PROMISE
from services.deliverer.channels.nrdp.settings import NrdpSettings

__all__ = ["PROMISE", "open_channel"]


def open_channel(clock: Clock) -> NrdpChannel:
    """Read the settings and make the channel."""
    return NrdpChannel(read_settings(NrdpSettings), clock)
