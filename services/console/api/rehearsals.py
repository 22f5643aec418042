"""Rehearsals as JSON: try a watch over recent events, and see what it would have raised."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field, StringConstraints

from services.backbone.ledger.operators.rehearsals import (
    LIST_LIMIT,
    Asked,
    Rehearsals,
    State,
    Whole,
)
from services.backbone.ledger.rows import Page
from services.backbone.web.problems import Problem
from services.console.api.terms import (
    DEFAULT_LIMIT,
    Body,
    Cursor,
    Key,
    PlainText,
    RehearsalId,
    read_cursor,
)
from services.console.deeds.rehearsals import Draft, ask
from services.console.desk import Served
from services.console.difference import difference
from services.console.people.door import Reader, Responder
from services.contracts.declarations import FILE_LIMIT_BYTES
from services.contracts.rehearsals import Answer

_SIZED = StringConstraints(max_length=FILE_LIMIT_BYTES)


class RehearsalBody(Body):
    """A watch to try."""

    watch: Annotated[
        str, PlainText, _SIZED, Field(min_length=1, examples=["watch: over-heat\nversion: 1\n…"])
    ]
    rules: Annotated[
        str, PlainText, _SIZED, Field(description="its table of rules; empty: the auditors' own")
    ] = ""
    since: Annotated[str, Field(max_length=64, examples=["1h"])] = "1h"


class RehearsalAsked(BaseModel):
    """The rehearsal's id; the same key again gives the same one."""

    rehearsal_id: str


class RehearsalShown(BaseModel):
    """How a rehearsal stands, and what came of it; `changed` is empty where nothing runs yet."""

    rehearsal_id: str
    asked_by: str
    watch: str
    state: State
    trouble: str
    age_ms: int
    span_seconds: float
    answer: Answer | None
    changed: list[str]


def rehearsal_api() -> APIRouter:
    """Return the routes; they run on threads, since the ledger's client waits."""
    router = APIRouter(prefix="/v1/rehearsals", tags=["rehearsals"])

    @router.post("", status_code=202, summary="Try a watch over recent events; nobody is told")
    def begin(
        body: RehearsalBody, person: Responder, desk: Served, key: Key = None
    ) -> RehearsalAsked:
        draft = Draft(body.watch, body.rules, body.since)
        return RehearsalAsked(rehearsal_id=ask(desk.pool, desk.shelf, person, draft, key))

    @router.get("", summary="List rehearsals, newest first")
    def newest(
        person: Reader,
        desk: Served,
        limit: Annotated[int, Query(ge=1, le=LIST_LIMIT)] = DEFAULT_LIMIT,
        cursor: Cursor = None,
    ) -> Page[Asked]:
        return Rehearsals(desk.pool).newest(limit, read_cursor(cursor))

    @router.get("/{rehearsal_id}", summary="What a watch would have raised")
    def one(person: Reader, desk: Served, rehearsal_id: RehearsalId) -> RehearsalShown:
        found = Rehearsals(desk.pool).one(rehearsal_id)
        if found is None:
            raise no_such_rehearsal(rehearsal_id)
        return _shown(found)

    return router


def no_such_rehearsal(rehearsal_id: str) -> Problem:
    """Return 404 for a rehearsal that is not in the ledger."""
    return Problem(404, "no_such_rehearsal", f"the ledger has no rehearsal {rehearsal_id[:64]}")


def _shown(found: Whole) -> RehearsalShown:
    asked = found.rehearsal
    marks = {"added": "+", "gone": "-", "same": " ", "place": ""}
    return RehearsalShown(
        rehearsal_id=found.rehearsal_id,
        asked_by=found.asked_by,
        watch=found.watch,
        state=found.state,
        trouble=found.trouble,
        age_ms=found.age_ms,
        span_seconds=asked.span_seconds,
        answer=found.found,
        changed=[marks[each.kind] + each.text for each in difference(asked.live, asked.new) or []],
    )
