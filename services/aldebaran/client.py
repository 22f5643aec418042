"""How the command line speaks with a running console."""

from collections.abc import Mapping
from typing import Any

import httpx2
from pydantic import Field, SecretStr

from services.backbone.errors import Refused, Transient, Trouble
from services.backbone.settings import Seconds, Settings


class CommandSettings(Settings):
    """Where the console is, and the operator's key."""

    console_url: str = Field(default="http://127.0.0.1:18080", pattern=r"^https?://[^\s]+$")
    operator_key: SecretStr = SecretStr("")
    operator_timeout_seconds: Seconds = 15.0


class Client:
    """Asks the API; every answer that is no success becomes an error with words."""

    def __init__(
        self, settings: CommandSettings, transport: httpx2.BaseTransport | None = None
    ) -> None:
        self._url = settings.console_url
        key = settings.operator_key.get_secret_value()
        self._client = httpx2.Client(
            base_url=self._url,
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=settings.operator_timeout_seconds,
            transport=transport,
        )

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        query: Mapping[str, Any] | None = None,
        key: str = "",
    ) -> Any:
        """Return the answer's JSON.

        Raises:
            Refused: the console does not do this; the message says why.
            Transient: it does not answer, or not now.
        """
        headers = {"Idempotency-Key": key} if key else {}
        try:
            answer = self._client.request(method, path, json=body, params=query, headers=headers)
        except httpx2.HTTPError as error:
            said = f"no console answers at {self._url} ({error}); set ALDEBARAN_CONSOLE_URL"
            raise Transient(said) from None
        if answer.is_success:
            return answer.json()
        raise _trouble(answer)

    def close(self) -> None:
        """Close the connection."""
        self._client.close()


def _trouble(answer: httpx2.Response) -> Trouble:
    try:
        told = answer.json()
        said = f"{told['title']}: {told['detail']}"
    except (ValueError, KeyError, TypeError):
        said = f"the answer was {answer.status_code}; is this the console's address?"
    if answer.status_code == 401:
        said += "; name your operator's key in ALDEBARAN_OPERATOR_KEY"
    return Transient(said) if answer.status_code in (429, 503) else Refused(said)
