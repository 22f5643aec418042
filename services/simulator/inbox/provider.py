"""What a provider played over HTTP is: it reads a request, keeps a message, words a refusal.

Each module in `providers/` is one. It has `PREFIX`, the path under which it is found, and
`open_provider(desk)`. Its name is the name of its way in, so of its dials and its counts. Faults
that all providers share are dealt out by the HTTP server; a provider sees a message only when it
is to keep it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Final, Protocol, runtime_checkable

from services.backbone.clock import Clock
from services.simulator.inbox import providers
from services.simulator.inbox.faults import Faults
from services.simulator.inbox.received import Arrival

KEPT_LIMIT: Final = 10_000
"""Of each kind of thing a provider keeps the newest so many."""


@dataclass(frozen=True, slots=True)
class ProviderRequest:
    """One whole request; `path` is what follows the provider's prefix, header names are small."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class ProviderAnswer:
    """What the provider says."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    media_type: str = "application/json"


@dataclass(frozen=True, slots=True)
class Sending:
    """A request that hands over a message: the delivery id in it, and a line for people."""

    delivery_id: str
    shown: str


class Provider(Protocol):
    """One provider; called from several threads at once."""

    def read(self, request: ProviderRequest) -> Sending | ProviderAnswer:
        """Return the message handed over, or the answer to any other or wrong request."""

    def take(self, request: ProviderRequest, sending: Sending) -> ProviderAnswer:
        """Keep the message and return the answer, which the sender may never see."""

    def refuse(self, status: int) -> ProviderAnswer:
        """Word a refusal that a dial asks for."""


@runtime_checkable
class Closing(Protocol):
    """A provider that holds something open."""

    def close(self) -> None:
        """Let go of it."""


@dataclass(frozen=True, slots=True)
class Desk:
    """What a provider may use: time, its dials as they are now, and work done later."""

    clock: Clock
    faults: Callable[[], Faults]
    later: Callable[[float, Callable[[], None]], None]
    """Do something after that many seconds, on a thread of its own."""
    took: Callable[[Arrival, str], None]
    """Count a message that came another way than by the HTTP server, with a line for people."""


def provider_names() -> tuple[str, ...]:
    """Return the names of all providers there are."""
    return tuple(sorted(module.name for module in iter_modules(providers.__path__)))


def first_dials(name: str) -> Faults:
    """Return a provider's dials before anybody has turned them: its `DIALS`, if it has more."""
    dials = getattr(_module(name), "DIALS", None)
    return dials if isinstance(dials, Faults) else Faults()


def prefix(name: str) -> str:
    """Return the path under which a provider is found."""
    return str(_module(name).PREFIX)


def open_provider(name: str, desk: Desk) -> Provider:
    """Make a provider."""
    provider: Provider = _module(name).open_provider(desk)
    return provider


def _module(name: str) -> ModuleType:
    return import_module(f"{providers.__name__}.{name}")
