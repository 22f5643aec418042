"""How one of our programs, or a command line, asks the HTTP API of another."""

from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import quote

import httpx2
from pydantic import SecretStr

from services.backbone.errors import Refused, Transient
from services.backbone.settings import Seconds, Settings
from services.backbone.web.keys import HeldKey
from services.backbone.web.problems import Problem, away

_NOT_NOW: Final = frozenset({429, 502, 503, 504})
"""What an ingress or a proxy answers while nobody is behind it, or too much is asked of it."""

Fault = Callable[[Problem], Exception]
"""What a caller makes of a problem; `__cause__` is the connection's error where nobody answered."""


def in_path(text: str) -> str:
    """Return what somebody wrote, an id most likely, as one part of a path, whatever it holds."""
    # A terminal hands over bytes of another alphabet as what no UTF-8 can say.
    return quote(text.strip(), safe="", errors="replace")


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
        fault: Fault = lambda problem: problem,
    ) -> None:
        self._program = program
        self._fault = fault
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
            Problem: what the program does not do, in its words; 503 while it does not answer; 422
                where the body is not possible as JSON, or the key as a header.
                Where the client was given a `fault`, what that makes of it.
        """
        headers = {"Idempotency-Key": key} if key else {}
        try:
            asked = self._client.build_request(
                method, path, json=body, params=query, headers=headers
            )
        except ValueError:  # NaN or half of a character in the body; another script in the key.
            said = "a number or a text of it cannot be JSON, or its key is not ASCII"
            raise self._fault(Problem(422, "bad_question", said)) from None
        try:
            answer = self._client.send(asked)
        except httpx2.HTTPError as error:
            said = f"the {self._program} does not answer; try again"
            problem = away(f"{self._program}_away", said)
            problem.__cause__ = error
            raise self._fault(problem) from error
        if not answer.is_success:
            raise self._fault(self._problem(answer))
        try:
            return answer.json()
        except ValueError:
            raise self._fault(self._stranger("no JSON")) from None

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _problem(self, answer: httpx2.Response) -> Problem:
        try:
            told = answer.json()
            return Problem(answer.status_code, str(told["title"]), str(told["detail"]))
        except (ValueError, KeyError, TypeError):
            status = answer.status_code
            if status in _NOT_NOW:
                said = f"what stands before the {self._program} answers {status}; try again"
                return away(f"{self._program}_away", said)
            return self._stranger(str(status))

    def _stranger(self, answer: str) -> Problem:
        said = f"the answer was {answer}; is this the {self._program}'s address?"
        return Problem(502, self._program, said)


class NotFound(Refused):
    """There is no such thing, or not yet."""


class OperatorSettings(Settings):
    """The operator's key, and how long to wait; a command line adds where its program is."""

    operator_key: HeldKey = SecretStr("")
    """The operator's own key, as `keygen` made it."""
    operator_timeout_seconds: Seconds = 30.0
    """How long a command waits for an answer; the console itself waits 25 s for the lookout's."""


def command_client(
    program: str,
    url: str,
    settings: OperatorSettings,
    transport: httpx2.BaseTransport | None = None,
) -> ApiClient:
    """Return what asks for a command line: every answer that is no success is an error with words.

    It raises NotFound where there is no such thing, Transient where the program does not answer,
    or not now, and Refused with the program's reason otherwise.
    """

    def fault(told: Problem) -> Exception:
        said = str(told)
        if told.__cause__:
            where = f"set ALDEBARAN_{program.upper()}_URL"
            said = f"no {program} answers at {url} ({told.__cause__}); {where}"
        if told.status == 401:
            said += "; name your operator's key in ALDEBARAN_OPERATOR_KEY"
        if told.status == 404:
            return NotFound(said)
        return Transient(said) if told.status in (429, 503) else Refused(said)

    key, timeout = settings.operator_key.get_secret_value(), settings.operator_timeout_seconds
    return ApiClient(program, url, key, timeout, transport, fault)
