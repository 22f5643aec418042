"""The lookout's API, asked in the name of the person who pressed: it knows routes and brokers."""

from typing import Any, Final

import httpx2

from services.backbone.web.client import ApiClient
from services.backbone.web.problems import Problem

TIMEOUT_SECONDS: Final = 10.0


class Lookout:
    """Asks the operators' API with the console's own key; safe to use from several threads."""

    def __init__(self, url: str, key: str, transport: httpx2.BaseTransport | None = None) -> None:
        self._client = ApiClient("lookout", url, key, TIMEOUT_SECONDS, transport)

    def ask(self, method: str, path: str, body: Any = None, key: str | None = None) -> Any:
        """Return the answer's JSON; `key` makes the same question again one deed.

        Raises:
            Problem: what the lookout does not do, in its words; 503 while it does not answer.
        """
        try:
            return self._client.ask(method, path, body, key=key)
        except Problem as told:
            raise _own_key(told) if told.status in (401, 403) else told from None

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def _own_key(told: Problem) -> Problem:
    said = "the console's own key is not known there: name one in ALDEBARAN_OPERATOR_KEY"
    return Problem(502, "lookout_key", f"{said} ({told.detail})")
