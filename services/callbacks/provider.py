"""What a provider is to the door: it reads a callback and says what is evidence in it.

Each module in `providers/` is one; its name is the first part of the callback's path. It has
`open_provider()`, which reads the provider's own settings and returns None if there are none.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Protocol

from services.backbone.ledger.deliveries.evidence import Evidence
from services.callbacks import providers


@dataclass(frozen=True, slots=True)
class Callback:
    """One whole request about one delivery; names of headers are in small letters."""

    delivery_id: str
    path: str
    """Path and query, as they came."""
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Told:
    """The provider itself says this; no evidence means that it says nothing new."""

    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Forged:
    """Nobody knows who says this, so it changes nothing."""

    reason: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """The provider says it, and we cannot read it."""

    reason: str


Reading = Told | Forged | Unreadable


class Provider(Protocol):
    """Reads one provider's callbacks."""

    @property
    def name(self) -> str:
        """The first part of the path."""

    def read(self, callback: Callback) -> Reading:
        """Check who says it, then read it; a pure function of the callback and the settings."""


OpenProvider = Callable[[], Provider | None]


def open_providers() -> Iterator[Provider]:
    """Open every provider that the settings name."""
    for module in iter_modules(providers.__path__):
        opens: OpenProvider = import_module(f"{providers.__name__}.{module.name}").open_provider
        provider = opens()
        if provider is not None:
            yield provider
