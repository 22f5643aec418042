"""How the command line speaks with a running lookout."""

from typing import Any

import httpx2
from pydantic import Field, SecretStr

from services.backbone.errors import Refused, Transient, Trouble
from services.backbone.settings import Seconds, Settings


class OperatorSettings(Settings):
    """Where the lookout is, and the operator's key."""

    lookout_url: str = Field(default="http://127.0.0.1:8080", pattern=r"^https?://[^\s]+$")
    operator_key: SecretStr = SecretStr("")
    operator_timeout_seconds: Seconds = 15.0


class ApiClient:
    """Asks the operators' API; every answer that is no success becomes an error with words."""

    def __init__(
        self, settings: OperatorSettings, transport: httpx2.BaseTransport | None = None
    ) -> None:
        self._url = settings.lookout_url
        headers = {"Authorization": f"Bearer {settings.operator_key.get_secret_value()}"}
        self._client = httpx2.Client(
            base_url=self._url,
            headers=headers if settings.operator_key.get_secret_value() else {},
            timeout=settings.operator_timeout_seconds,
            transport=transport,
        )

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """Return the answer's JSON.

        Raises:
            Refused: the lookout does not do this; the message says why.
            Transient: it does not answer, or not now.
        """
        spelled = {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            answer = self._client.request(method, path, json=body, headers=spelled)
        except httpx2.HTTPError as error:
            said = f"no lookout answers at {self._url} ({error}); set ALDEBARAN_LOOKOUT_URL"
            raise Transient(said) from None
        if answer.is_success:
            return answer.json()
        raise _trouble(answer)

    def close(self) -> None:
        """Close the connection."""
        self._client.close()


class NotFound(Refused):
    """There is no such thing, or not yet."""


def _trouble(answer: httpx2.Response) -> Trouble:
    try:
        told = answer.json()
        said = f"{told['title']}: {told['detail']}"
    except (ValueError, KeyError, TypeError):
        said = f"the answer was {answer.status_code}; is this the lookout's address?"
    if answer.status_code == 401:
        said += "; name your operator's key in ALDEBARAN_OPERATOR_KEY"
    if answer.status_code == 404:
        return NotFound(said)
    return Transient(said) if answer.status_code in (429, 503) else Refused(said)
