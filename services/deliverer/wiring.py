"""Finds channels: each is one module, or one package, in `channels/`; its name is the channel's."""

from importlib import import_module
from pkgutil import iter_modules

from services.deliverer import channels
from services.deliverer.channel import OpenChannel


def channel_names() -> tuple[str, ...]:
    """Return the names of all channels there are."""
    return tuple(sorted(module.name for module in iter_modules(channels.__path__)))


def opener(name: str) -> OpenChannel | None:
    """Return how a channel is opened, or None if there is none of this name.

    Only this channel's module is imported: a deliverer carries no other provider's library.
    """
    if name not in channel_names():
        return None
    opens: OpenChannel = import_module(f"{channels.__name__}.{name}").open_channel
    return opens
