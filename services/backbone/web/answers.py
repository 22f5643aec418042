"""How an application answers what it does not take: every fault as problem details."""

from collections.abc import Callable
from typing import Final

import orjson
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from services.backbone.errors import Refused, Transient
from services.backbone.log import logger
from services.backbone.web.problems import PROBLEM_TYPE, Problem, away

log = logger(__name__)

FINDINGS_SHOWN: Final = 20

Answer = Callable[[Request, Problem], Response]
"""How a problem is told: as JSON, or as a page where a person looks."""

_REASONS: Final = {400: "unreadable", 404: "no_such_page", 405: "wrong_method"}


def as_json(_: Request, problem: Problem) -> Response:
    """Return a problem as RFC 9457 has it."""
    return Response(orjson.dumps(problem.body()), problem.status, problem.headers, PROBLEM_TYPE)


def add_problems(app: FastAPI, answer: Answer = as_json) -> None:
    """Make the application answer every fault with a problem.

    Transient becomes 503 with Retry-After, Refused 422; anything else is a bug: it is logged, and
    ends this one request, so that one caller's request never stops the others.
    """

    async def on_fault(request: Request, fault: Exception) -> Response:
        return answer(request, problem_of(fault))

    for kind in (Problem, Transient, Refused, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, on_fault)


def problem_of(fault: Exception) -> Problem:
    """Return how a caller is told of a fault."""
    match fault:
        case Problem():
            return fault
        case Transient():
            log.warning("request_not_possible_now", reason=str(fault))
            # The reason may name hosts and users, which belong into the log only.
            return away("away", "a store does not answer; the same request may work in a moment")
        case Refused():
            return Problem(422, "refused", str(fault))
        case RequestValidationError():
            return _bad_question(fault)
        case HTTPException():
            return _http(fault)
        case _:
            log.error("bug", exc_info=fault)
            return Problem(500, "bug", "we made a mistake; our log says which")


def _bad_question(error: RequestValidationError) -> Problem:
    findings = [
        {"place": ".".join(map(str, each["loc"])), "problem": str(each["msg"])}
        for each in error.errors()[:FINDINGS_SHOWN]
    ]
    detail = "; ".join(f"{each['place']}: {each['problem']}" for each in findings)
    return Problem(422, "bad_question", detail, findings=findings)


def _http(error: HTTPException) -> Problem:
    headers = dict(error.headers or {})
    allowed = f"; allowed is {headers['Allow']}" if "Allow" in headers else ""
    reason = _REASONS.get(error.status_code, "http")
    return Problem(error.status_code, reason, f"{error.detail}{allowed}", headers)
