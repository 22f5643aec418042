"""How one of our programs, or a command line, asks the HTTP API of another."""

from collections.abc import Mapping
from typing import Any

import httpx2
from pydantic import SecretStr

from services.backbone.errors import Refused, Transient, Trouble
from services.backbone.log import logger
from services.backbone.settings import Seconds, Settings
from services.backbone.web.problems import Problem, away

log = logger(__name__)


class ApiClient:
    """Asks an API; safe to use from several threads.

    `program` is who answers, in words; `key` is an operator's key, or empty.
    """

    def __init__(
        self,
        program: str,
        url: str,
        key: str,
        timeout_seconds: float,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        self._program = program
        self._client = httpx2.Client(
            base_url=url,
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=timeout_seconds,
            transport=transport,
            trust_env=False,
        )

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        query: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> Any:
        """Return the answer's JSON; `key` makes the same question again one deed.

        Raises:
            Problem: what the program does not do, in its words; 503 while it does not answer.
        """
        headers = {"Idempotency-Key": key} if key else {}
        try:
            answer = self._client.request(method, path, json=body, params=query, headers=headers)
        except httpx2.HTTPError as error:
            log.warning("no_answer", program=self._program, reason=str(error))
            said = f"the {self._program} does not answer; try again"
            raise away(away_reason(self._program), said) from None
        if answer.is_success:
            return answer.json()
        raise self._problem(answer)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _problem(self, answer: httpx2.Response) -> Problem:
        try:
            told = answer.json()
            return Problem(answer.status_code, str(told["title"]), str(told["detail"]))
        except (ValueError, KeyError, TypeError):
            said = f"the answer was {answer.status_code}; is this the {self._program}'s address?"
            return Problem(502, self._program, said)


class NotFound(Refused):
    """There is no such thing, or not yet."""


class OperatorSettings(Settings):
    """The operator's key, and how long to wait; a command line adds where its program is."""

    operator_key: SecretStr = SecretStr("")
    operator_timeout_seconds: Seconds = 15.0


class CommandClient:
    """The same for a command line: every answer that is no success becomes an error with words."""

    def __init__(
        self,
        program: str,
        url: str,
        settings: OperatorSettings,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        self._program, self._url = program, url
        key, timeout = settings.operator_key.get_secret_value(), settings.operator_timeout_seconds
        self._client = ApiClient(program, url, key, timeout, transport)

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        query: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> Any:
        """Return the answer's JSON.

        Raises:
            NotFound: there is no such thing.
            Refused: the program does not do this; the message says why.
            Transient: it does not answer, or not now.
        """
        try:
            return self._client.ask(method, path, body, query, key)
        except Problem as told:
            raise self._trouble(told) from None

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _trouble(self, told: Problem) -> Trouble:
        said = str(told)
        if told.reason == away_reason(self._program):
            said = f"no {self._program} answers at {self._url}; set {address(self._program)}"
        if told.status == 401:
            said += "; name your operator's key in ALDEBARAN_OPERATOR_KEY"
        if told.status == 404:
            return NotFound(said)
        return Transient(said) if told.status in (429, 503) else Refused(said)


def away_reason(program: str) -> str:
    """Return the problem's word for a program that does not answer."""
    return f"{program}_away"


def address(program: str) -> str:
    """Return the variable that says where a program is."""
    return f"ALDEBARAN_{program.upper()}_URL"
