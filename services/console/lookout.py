"""The lookout's API, asked in the name of the person who pressed: it knows routes and brokers."""

from typing import Any, Final

import httpx2

from services.backbone.web.problems import Problem, away

TIMEOUT_SECONDS: Final = 10.0


class Lookout:
    """Asks the operators' API; safe to use from several threads."""

    def __init__(self, url: str, key: str, transport: httpx2.BaseTransport | None = None) -> None:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._client = httpx2.Client(
            base_url=url,
            headers=headers,
            timeout=TIMEOUT_SECONDS,
            transport=transport,
            trust_env=False,
        )

    def ask(self, method: str, path: str, body: Any = None, key: str | None = None) -> Any:
        """Return the answer's JSON; `key` makes the same question again one deed.

        Raises:
            Problem: what the lookout does not do, in its words; 503 while it does not answer.
        """
        headers = {"Idempotency-Key": key} if key else {}
        try:
            answer = self._client.request(method, path, json=body, headers=headers)
        except httpx2.HTTPError:
            raise away("lookout_away", "the lookout does not answer; try again") from None
        if answer.is_success:
            return answer.json()
        raise _problem(answer)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def _problem(answer: httpx2.Response) -> Problem:
    try:
        told = answer.json()
        reason, detail = str(told["title"]), str(told["detail"])
    except (ValueError, KeyError, TypeError):
        return Problem(502, "lookout", f"the lookout answered {answer.status_code}")
    if answer.status_code in (401, 403):
        said = "the console's own key is not known there: name one in ALDEBARAN_OPERATOR_KEY"
        return Problem(502, "lookout_key", f"{said} ({detail})")
    return Problem(answer.status_code, reason, detail)
