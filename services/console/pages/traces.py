"""Traces: follow one key in detail for a while, and see its steps live."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.responses import Response

from services.backbone.errors import Refused
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
        return _page(request, desk, key)

    @router.post("/traces")
    def on(request: Request, press: ResponderPress, desk: Served) -> Response:
        key = press.text("of", KEY_LIMIT_CHARACTERS)
        try:
            trace_id = _begun(desk, press, key)
        except Refused as error:
            return _page(request, desk, key, str(error))
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


def _begun(desk: Desk, press: Press, key: str) -> str:
    minutes, why = press.text("minutes", 4), press.text("why")
    if not key or not why:
        raise Refused("name the key, and say why it is traced")
    if not minutes.isdecimal() or not 1 <= int(minutes) <= MINUTES_LIMIT:
        raise Refused(f"a trace lasts 1 to {MINUTES_LIMIT} minutes")
    trace_id, _ = begin(
        desk.pool, press.person, key, int(minutes), why, press.text("key", 256) or None
    )
    return trace_id


def _page(request: Request, desk: Desk, key: str, problem: str = "") -> HTMLResponse:
    return html(
        request,
        "traces.html",
        422 if problem else 200,
        title="Traces",
        here="traces",
        traces=desk.traces.newest().rows,
        key=key,
        problem=problem,
        minutes=MINUTES_DEFAULT,
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
