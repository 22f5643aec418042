"""Traces: follow one key in detail for a while, and see its steps live."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.responses import Response

from services.backbone.errors import Refused
from services.backbone.web.problems import Problem
from services.console.api.terms import TraceId
from services.console.api.traces import found, topics_trouble
from services.console.deeds.traces import (
    KEY_LIMIT_CHARACTERS,
    MINUTES_DEFAULT,
    MINUTES_LIMIT,
    begin,
    end,
)
from services.console.desk import Desk, Served
from services.console.people.door import Onlooker, Press, Reader, ResponderPress
from services.console.rendering import html
from services.console.tracing.looking import left_ms, look_seconds


def trace_pages() -> APIRouter:
    """Return the routes of the pages."""
    router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

    @router.get("/traces")
    def traces(
        request: Request,
        person: Reader,
        desk: Served,
        key: Annotated[str, Query(max_length=KEY_LIMIT_CHARACTERS)] = "",
    ) -> HTMLResponse:
        return _page(request, desk, Asked(key))

    @router.post("/traces")
    def on(request: Request, press: ResponderPress, desk: Served) -> Response:
        key, minutes = press.text("of", KEY_LIMIT_CHARACTERS), press.text("minutes", 4)
        asked = Asked(key, minutes, press.text("why"))
        try:
            trace_id = _begun(desk, press, asked)
        except Problem as problem:
            return _page(request, desk, asked, problem, press.key_again(problem))
        return RedirectResponse(f"/traces/{trace_id}", 303)

    @router.get("/traces/{trace_id}")
    def one(request: Request, person: Reader, trace_id: TraceId, desk: Served) -> HTMLResponse:
        return _one(request, desk, trace_id, "trace.html")

    @router.get("/traces/{trace_id}/lines")
    def lines(request: Request, person: Onlooker, trace_id: TraceId, desk: Served) -> HTMLResponse:
        return _one(request, desk, trace_id, "trace_lines.html")

    @router.post("/traces/{trace_id}/end")
    def off(trace_id: TraceId, press: ResponderPress, desk: Served) -> Response:
        found(desk.traces.one(trace_id))
        end(desk.pool, press.person, trace_id, press.text("key", 256) or None)
        return RedirectResponse(f"/traces/{trace_id}?said=it+is+over", 303)

    return router


@dataclass(frozen=True, slots=True)
class Asked:
    """What the form says: the key, for how long, and why."""

    key: str
    minutes: str = str(MINUTES_DEFAULT)
    why: str = ""


def _begun(desk: Desk, press: Press, asked: Asked) -> str:
    if not asked.key or not asked.why:
        raise Problem(422, "refused", "name the key, and say why it is traced")
    if not asked.minutes.isdecimal() or not 1 <= int(asked.minutes) <= MINUTES_LIMIT:
        raise Problem(422, "refused", f"a trace lasts 1 to {MINUTES_LIMIT} minutes")
    by, minutes, pressed = press.person, int(asked.minutes), press.text("key", 256) or None
    try:
        trace_id, _ = begin(desk.pool, by, asked.key, minutes, asked.why, pressed)
    except Refused as error:
        raise Problem(422, "refused", str(error)) from None
    return trace_id


def _page(
    request: Request,
    desk: Desk,
    asked: Asked,
    problem: Problem | None = None,
    press_key: str = "",
) -> HTMLResponse:
    return html(
        request,
        "traces.html",
        problem.status if problem else 200,
        press_key,
        title="Traces",
        here="traces",
        traces=desk.traces.newest().rows,
        asked=asked,
        problem=problem,
        minutes_limit=MINUTES_LIMIT,
    )


def _one(request: Request, desk: Desk, trace_id: str, template: str) -> HTMLResponse:
    trace, now_ms = found(desk.traces.one(trace_id)), desk.clock.now_ms()
    lines, are_all = desk.traces.newest_lines(trace_id)
    return html(
        request,
        template,
        title=f"Trace of {trace.key}",
        here="traces",
        trace=trace,
        lines=lines,
        are_all=are_all,
        trouble=topics_trouble(desk.health, trace),
        look_seconds=look_seconds(trace, now_ms),
        left_ms=left_ms(trace, now_ms),
    )
