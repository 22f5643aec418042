"""Slack: a bot's message in a conversation; the delivery id is in its text and in its metadata.

Slack knows no key by which it would drop a repeat, but its history can be searched: it ends most
doubts. Slack's own Python client is not used: it cannot tell a failed connection from a lost
answer, takes proxies from the environment and answers of any size, and fails on some of them.
"""

from services.backbone.clock import Clock
from services.backbone.settings import read_settings
from services.deliverer.channels.slack.channel import PROMISE, SlackChannel
from services.deliverer.channels.slack.settings import SlackSettings

__all__ = ["PROMISE", "open_channel"]


def open_channel(clock: Clock) -> SlackChannel:
    """Read the settings and make the channel."""
    return SlackChannel(read_settings(SlackSettings), clock)
