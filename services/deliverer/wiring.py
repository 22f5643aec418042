"""Finds channels: each is one module, or one package, in `channels/`; its name is the channel's.

It has `open_channel`, and `PROMISE`, from which docs/promises.md is made.
"""

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from services.deliverer import channels
from services.deliverer.channel import OpenChannel, Promise


def channel_names() -> tuple[str, ...]:
    """Return the names of all channels there are."""
    return tuple(sorted(module.name for module in iter_modules(channels.__path__)))


def opener(name: str) -> OpenChannel | None:
    """Return how a channel is opened, or None if there is none of this name.

    Only this channel's module is imported: a deliverer carries no other provider's library.
    """
    if name not in channel_names():
        return None
    opens: OpenChannel = _module(name).open_channel
    return opens


def no_channel(name: str) -> str:
    """Say that there is no channel of this name, and which there are."""
    return f"ALDEBARAN_CHANNEL: no channel {name}, there are {', '.join(channel_names())}"


def promise_of(name: str) -> Promise:
    """Return what a channel promises; it needs no settings for that."""
    promise: Promise = _module(name).PROMISE
    return promise


def _module(name: str) -> ModuleType:
    return import_module(f"{channels.__name__}.{name}")
