"""Reads the gateway's answer to a batch: what became of each event, and when to come again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from services.backbone.errors import Refused
from services.simulator.tally import Outcome

LATER: Final = frozenset({408, 429, 502, 503, 504})
"""Answers after which the same events are sent again."""

PER_EVENT: Final = frozenset({200, 202, 207, 400, 422})
"""Answers whose body tells about each event."""

RETRY_LIMIT_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class Answer:
    """Outcomes in the batch's sequence, None for events to send again, and the wait asked for."""

    outcomes: Sequence[Outcome | None]
    retry_after_seconds: float | None = None


_STATUSES: Final[dict[str, Outcome | None]] = {
    "accepted": Outcome.ACCEPTED,
    "rejected": Outcome.REJECTED,
    "retry": None,
}


def read_answer(status: int, headers: Mapping[str, str], body: bytes, count: int) -> Answer:
    """Return what an answer to `count` events means.

    Raises:
        Refused: an answer that no repeat will change, such as a wrong key or an unknown stream.
    """
    if status in LATER:
        outcomes = _outcomes(body, count, None)
        return Answer(outcomes, _seconds(headers.get("retry-after")))
    if status in PER_EVENT:
        otherwise = Outcome.ACCEPTED if status < 300 else Outcome.REJECTED
        return Answer(_outcomes(body, count, otherwise))
    text = body[:300].decode(errors="replace")
    raise Refused(f"the gateway answers {status}: {text}")


def _outcomes(body: bytes, count: int, otherwise: Outcome | None) -> list[Outcome | None]:
    outcomes = [otherwise] * count
    for result in _results(body):
        index, status = result.get("index"), result.get("status")
        if isinstance(index, int) and 0 <= index < count and status in _STATUSES:
            outcomes[index] = _STATUSES[status]
    return outcomes


def _results(body: bytes) -> list[dict[str, Any]]:
    try:
        answer = orjson.loads(body)
    except orjson.JSONDecodeError:
        return []
    results = answer.get("results") if isinstance(answer, dict) else None
    return [each for each in results if isinstance(each, dict)] if isinstance(results, list) else []


def _seconds(retry_after: str | None) -> float | None:
    try:
        return min(RETRY_LIMIT_SECONDS, max(0.0, float(retry_after or "")))
    except ValueError:
        return None
