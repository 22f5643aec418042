"""Traces as JSON: follow one key in detail for a while, and read what was seen."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from services.backbone.errors import Refused
from services.backbone.health import Health
from services.backbone.ledger.rows import Page
from services.backbone.web.problems import Problem
from services.console.api.terms import (
    DEFAULT_LIMIT,
    Body,
    Cursor,
    Key,
    PlainText,
    TraceId,
    read_cursor,
)
from services.console.deeds.traces import (
    KEY_LIMIT_CHARACTERS,
    MINUTES_DEFAULT,
    MINUTES_LIMIT,
    begin,
    end,
)
from services.console.desk import Served
from services.console.people.door import Reader, Responder
from services.console.tracing.reading import TOPICS_NOTE
from services.console.tracing.store import LIST_LIMIT, PAGE_LIMIT, LineRow, Trace


class TraceBody(Body):
    """Which key is followed, for how long, and why."""

    key: Annotated[
        str,
        PlainText,
        Field(
            min_length=1,
            max_length=KEY_LIMIT_CHARACTERS,
            description="the value of the stream's key field",
            examples=["o-4711"],
        ),
    ]
    minutes: Annotated[int, Field(ge=1, le=MINUTES_LIMIT)] = MINUTES_DEFAULT
    why: Annotated[
        str, PlainText, Field(min_length=1, max_length=400, examples=["ann misses a message"])
    ]


class TraceBegun(BaseModel):
    """The trace; `new` is false where the press was done before."""

    trace_id: str
    new: bool


class TraceRow(BaseModel):
    """One trace: who follows what, and until when; `is_closed` once its last line is there."""

    trace_id: str
    key: str
    person: str
    why: str
    begun_at_ms: int
    ends_at_ms: int
    is_on: bool
    is_closed: bool


class LinesPage(BaseModel):
    """Lines as they were written; `next_after` is where to go on, now or later.

    `trouble` says why the console cannot read topics now; null while it can.
    """

    trace: TraceRow
    rows: list[LineRow]
    next_after: int
    trouble: str | None


def trace_api() -> APIRouter:
    """Return the routes; they run on threads, since the ledger's client waits."""
    router = APIRouter(prefix="/v1/traces", tags=["traces"])

    @router.get("", summary="List traces, newest first")
    def newest(
        person: Reader,
        desk: Served,
        limit: Annotated[int, Query(ge=1, le=LIST_LIMIT)] = DEFAULT_LIMIT,
        cursor: Cursor = None,
    ) -> Page[TraceRow]:
        return desk.traces.newest(limit, read_cursor(cursor)).of(shown)

    @router.post("", status_code=201, summary="Follow one key in detail for a while")
    def on(body: TraceBody, person: Responder, desk: Served, key: Key = None) -> TraceBegun:
        try:
            trace_id, new = begin(desk.pool, person, body.key, body.minutes, body.why, key)
        except Refused as error:
            raise Problem(409, "no_trace", str(error)) from None
        return TraceBegun(trace_id=trace_id, new=new)

    @router.get("/{trace_id}/lines", summary="What was seen, as it was written")
    def lines(
        trace_id: TraceId,
        person: Reader,
        desk: Served,
        after: Annotated[int, Query(ge=0, le=2**62, description="next_after of before")] = 0,
        limit: Annotated[int, Query(ge=1, le=PAGE_LIMIT)] = 100,
    ) -> LinesPage:
        trace = found(desk.traces.one(trace_id))
        rows = desk.traces.lines(trace_id, after, limit)
        last = rows[-1].number if rows else after
        trouble = topics_trouble(desk.health, trace)
        return LinesPage(trace=shown(trace), rows=rows, next_after=last, trouble=trouble)

    @router.delete("/{trace_id}", summary="End a trace now")
    def off(trace_id: TraceId, person: Responder, desk: Served, key: Key = None) -> TraceRow:
        found(desk.traces.one(trace_id))
        end(desk.pool, person, trace_id, key)
        return shown(found(desk.traces.one(trace_id)))

    return router


def found(trace: Trace | None) -> Trace:
    """Return a trace that is there.

    Raises:
        Problem: 404.
    """
    if trace is None:
        raise Problem(404, "no_such_trace", "there is no such trace, or no longer")
    return trace


def topics_trouble(health: Health, trace: Trace) -> str | None:
    """Return why topics cannot be read now; None while they can, and where nobody waits for it."""
    return None if trace.is_closed else health.notes().get(TOPICS_NOTE)


def shown(trace: Trace) -> TraceRow:
    """Return a trace as people and programs see it."""
    return TraceRow(
        trace_id=trace.trace_id,
        key=trace.key,
        person=trace.person,
        why=trace.why,
        begun_at_ms=trace.begun_at_ms,
        ends_at_ms=trace.ends_at_ms,
        is_on=trace.is_on,
        is_closed=trace.is_closed,
    )
