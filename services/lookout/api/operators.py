"""Who may use the operators' API: people with a key of their own, kept apart from senders' keys."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from fastapi import Depends, Request

from services.backbone.clock import Clock
from services.backbone.web.keys import ApiKey, Keys, KeysReloader, bearer
from services.backbone.web.problems import Problem

SETTING: Final = "ALDEBARAN_OPERATOR_KEYS_FILE"
CLOSED: Final = (
    "no operators' keys: make one with `python -m services.lookout keygen NAME`, put its entry "
    f"under `keys:` in a file, name the file in {SETTING} and start again"
)


@dataclass(frozen=True)
class Operators:
    """Recognises operators; without a file of keys the API is closed."""

    keys: Keys[ApiKey] | None
    reloader: KeysReloader[ApiKey] | None = None

    def name(self, presented: str | None) -> str:
        """Return whose key this is.

        Raises:
            Problem: 401, no key of an operator; 403, there are no operators.
        """
        if self.keys is None:
            raise Problem(403, "api_closed", CLOSED)
        if self.reloader is not None:
            self.reloader.look()
        return self.keys.of(presented).name

    def note(self) -> str | None:
        """Tell what the last look at the file of keys found, if that is a person's business."""
        return self.reloader.note() if self.reloader else None

    def asking(self, headers: Mapping[str, str]) -> str:
        """Return whose key a request's headers carry.

        Raises:
            Problem: as `name`.
        """
        return self.name(bearer(headers))


def open_operators(path: Path | None, clock: Clock) -> Operators:
    """Read the keys.

    Raises:
        Refused: the file cannot be used.
    """
    if path is None:
        return Operators(None)
    reloader = KeysReloader(path, ApiKey, clock)
    return Operators(reloader.keys, reloader)


def _operator(request: Request) -> str:
    operators: Operators = request.app.state.operators
    return operators.asking(request.headers)


Operator = Annotated[str, Depends(_operator)]
"""The name of the key that a request carries; a request without one is answered 401."""
