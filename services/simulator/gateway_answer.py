"""Reads the gateway's answer to a batch: what became of each event, and when to come again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from services.backbone.errors import Refused
from services.simulator.tally import Outcome

LATER: Final = frozenset({408, 429, 502, 503, 504})
"""Answers after which the same events are sent again."""

RETRY_LIMIT_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class Answer:
    """Outcomes in the batch's sequence, None for events to send again, and the wait asked for."""

    outcomes: Sequence[Outcome | None]
    retry_after_seconds: float | None = None


_STATUSES: Final[dict[str, Outcome | None]] = {
    "rejected": Outcome.REJECTED,
    "retry": None,
}


def read_answer(status: int, headers: Mapping[str, str], body: bytes, count: int) -> Answer:
    """Return what an answer to `count` events means.

    Raises:
        Refused: an answer that no repeat will change, such as a wrong key or an unknown stream.
    """
    results = _results(body)
    if results is not None:
        outcomes = _listed(results, count)
    elif status in LATER:
        outcomes = [None] * count
    elif status == 200:
        outcomes = [Outcome.ACCEPTED] * count
    else:
        text = body[:300].decode(errors="replace")
        raise Refused(f"the gateway answers {status}: {text}")
    return Answer(outcomes, _seconds(headers.get("retry-after")))


def _listed(results: list[Any], count: int) -> list[Outcome | None]:
    """Apply the gateway's list; events that it does not list were accepted."""
    outcomes: list[Outcome | None] = [Outcome.ACCEPTED] * count
    for result in results:
        outcomes[result["index"]] = _STATUSES[result["status"]]
    return outcomes


def _results(body: bytes) -> list[Any] | None:
    try:
        answer = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    return answer.get("results") if isinstance(answer, dict) else None


def _seconds(retry_after: str | None) -> float | None:
    try:
        return min(RETRY_LIMIT_SECONDS, max(0.0, float(retry_after or "")))
    except ValueError:
        return None
