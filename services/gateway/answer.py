"""From what became of the events to the answer: a pure function."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import orjson

from services.backbone.errors import QueueFull, Refused
from services.backbone.web.problems import PROBLEM_TYPE, Problem
from services.contracts.events import Event
from services.gateway.intake import Taken

DETAILED_RESULTS: Final = 100
"""Events whose answer carries a sentence; of all others it carries the reason only."""
DETAIL_LIMIT_CHARACTERS: Final = 400
RETRY_AFTER_SECONDS: Final = 1

Status = Literal["accepted", "rejected", "retry"]


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer."""

    status: int
    body: bytes
    media_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)


def answer(stream: str, taken: Taken, request_id: str) -> Answer:
    """Tell the sender what became of the events, counted from 0; those not listed were accepted.

    200: all accepted. 207: some accepted, the others kept aside. 422: none accepted, all kept
    aside. 503: some are not known to be kept, and must be sent again.
    """
    results = _results(taken)
    counts = {
        "events": len(taken.verdicts),
        "accepted": len(taken.verdicts) - len(results),
        "rejected": sum(each["status"] == "rejected" for each in results),
        "retry": sum(each["status"] == "retry" for each in results),
    }
    head = {"stream": stream, "request_id": request_id, **counts}
    if counts["retry"]:
        said = f"{counts['retry']} events are not known to be kept: send them again"
        return _problem(503, "not_written", said, head, results)
    if not results:
        return Answer(200, orjson.dumps(head))
    if counts["accepted"]:
        return Answer(207, orjson.dumps(head | {"results": results}))
    said = f"no event is valid; the originals are kept in {stream}.rejected"
    return _problem(422, "no_valid_event", said, head, results)


def refusal(problem: Problem, request_id: str) -> Answer:
    """Return the answer to a request that was not taken at all."""
    whole = {"request_id": request_id} | problem.body()
    return Answer(problem.status, orjson.dumps(whole), PROBLEM_TYPE, problem.headers)


def _problem(
    status: int, reason: str, detail: str, head: dict[str, Any], results: list[dict[str, Any]]
) -> Answer:
    body = _details(status, reason, detail) | head | {"results": results}
    headers = {"Retry-After": str(RETRY_AFTER_SECONDS)} if status == 503 else {}
    return Answer(status, orjson.dumps(body), PROBLEM_TYPE, headers)


def _details(status: int, reason: str, detail: str) -> dict[str, Any]:
    return {"title": reason, "status": status, "detail": detail}


def _results(taken: Taken) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = []
    for index, (verdict, outcome) in enumerate(zip(taken.verdicts, taken.outcomes, strict=True)):
        if outcome is not None:
            reason, status = _trouble_name(outcome), "retry"
            detail = _SAID[reason]
        elif isinstance(verdict, Event):
            continue
        else:
            reason, detail, status = verdict.reason, verdict.detail, "rejected"
        result: dict[str, Any] = {"index": index, "status": status, "reason": reason}
        if len(results) < DETAILED_RESULTS:
            result["detail"] = detail[:DETAIL_LIMIT_CHARACTERS]
        results.append(result)
    return results


_SAID: Final = {
    "queue_full": "more waits to be written than we hold: send it again, more slowly",
    "broker_refused": "the brokers do not take it: send it again; a person must look into our log",
    "broker_away": "the brokers have not confirmed it in time: send it again",
}
"""By reason. What Kafka says may name hosts, which belong into the log only."""


def _trouble_name(outcome: Exception) -> str:
    if isinstance(outcome, QueueFull):
        return "queue_full"
    return "broker_refused" if isinstance(outcome, Refused) else "broker_away"
