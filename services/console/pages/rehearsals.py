"""Trying a watch before it goes live: the form, and what it would have raised."""

from typing import Annotated, Final

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.responses import Response

from services.backbone.ledger.operators.rehearsals import Rehearsals
from services.backbone.web.problems import Problem
from services.console.api.rehearsals import no_such_rehearsal
from services.console.api.terms import RehearsalId
from services.console.deeds.rehearsals import Draft, ask
from services.console.desk import Desk, Served
from services.console.difference import difference
from services.console.people.door import Onlooker, Press, Reader, ResponderPress
from services.console.rendering import html
from services.contracts.declarations import FILE_LIMIT_BYTES

SHOWN: Final = 20


def rehearsal_pages() -> APIRouter:
    """Return the routes of the pages."""
    router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

    @router.get("/rehearsals")
    def form(
        request: Request,
        person: Reader,
        desk: Served,
        watch: Annotated[str, Query(max_length=63)] = "",
    ) -> HTMLResponse:
        return _form(request, desk, Draft((desk.shelf.text(watch) if watch else None) or ""))

    @router.post("/rehearsals")
    def press(request: Request, press: ResponderPress, desk: Served) -> Response:
        text, rules = _lines(press, "watch"), _lines(press, "rules")
        draft = Draft(text, rules.strip() and rules, press.text("since", 64) or "1h")
        try:
            made = ask(desk.pool, desk.shelf, press.person, draft, press.text("key", 256) or None)
        except Problem as problem:
            return _form(request, desk, draft, problem)
        return RedirectResponse(f"/rehearsals/{made}", 303)

    @router.get("/rehearsals/{rehearsal_id}")
    def one(
        request: Request, person: Reader, desk: Served, rehearsal_id: RehearsalId
    ) -> HTMLResponse:
        return _one(request, desk, rehearsal_id, "rehearsal.html")

    @router.get("/rehearsals/{rehearsal_id}/part")
    def part(
        request: Request, person: Onlooker, desk: Served, rehearsal_id: RehearsalId
    ) -> HTMLResponse:
        return _one(request, desk, rehearsal_id, "rehearsal_part.html")

    return router


def _lines(press: Press, name: str) -> str:
    """Return a field's text as a file has it: browsers send every line's end as two characters."""
    return press.fields.get(name, "").replace("\r\n", "\n")[: FILE_LIMIT_BYTES + 1]


def _one(request: Request, desk: Desk, rehearsal_id: str, template: str) -> HTMLResponse:
    found = Rehearsals(desk.pool).one(rehearsal_id)
    if found is None:
        raise no_such_rehearsal(rehearsal_id)
    return html(
        request,
        template,
        title=f"Try {found.watch}",
        here="watches",
        rehearsal=found,
        asked=found.rehearsal,
        answer=found.found,
        is_open=found.state in ("ASKED", "RUNS"),
        lines=difference(found.rehearsal.live, found.rehearsal.new),
    )


def _form(
    request: Request, desk: Desk, draft: Draft, problem: Problem | None = None
) -> HTMLResponse:
    return html(
        request,
        "rehearsals.html",
        problem.status if problem else 200,
        title="Try a watch",
        here="watches",
        draft=draft,
        problem=problem,
        rehearsals=Rehearsals(desk.pool).newest(SHOWN).rows,
    )
