"""The routes in use, and who would be told of a made-up alert."""

from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.responses import Response

from services.backbone.web.problems import Problem
from services.console.deeds.routes import MadeUp, reload_routes, routes_in_use, would_be_told
from services.console.deeds.silences import match_of
from services.console.desk import Desk, Served
from services.console.people.door import Press, Reader, ResponderPress
from services.console.rendering import html
from services.contracts.lookout import ExplainPage, RoutesPage

FIELDS: Final = ("watch", "severity", "labels", "at")


def route_pages() -> APIRouter:
    """Return the routes of the page."""
    router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

    @router.get("/routes")
    def page(request: Request, person: Reader, desk: Served) -> HTMLResponse:
        return _page(request, desk, {"severity": "critical"})

    @router.post("/routes")
    def press(request: Request, press: ResponderPress, desk: Served) -> Response:
        fields = {name: press.fields.get(name, "") for name in FIELDS}
        try:
            if press.fields.get("what") == "reload":
                reload_routes(desk.lookout, desk.audit, press.person)
                return RedirectResponse("/routes?said=reloaded", 303)
            told = would_be_told(desk.lookout, _made_up(press), desk.clock.now_ms())
        except Problem as problem:
            return _page(request, desk, fields, problem=problem)
        return _page(request, desk, fields, told)

    return router


def _made_up(press: Press) -> MadeUp:
    match, at = match_of(dict(press.fields)), press.text("at", 40)
    return MadeUp(
        watch=match.get("watch", ""),
        severity=match.get("severity", "critical"),
        labels=match.get("labels", {}),
        at=at if not at or at.endswith("Z") else f"{at}Z",
    )


def _page(
    request: Request,
    desk: Desk,
    fields: dict[str, str],
    told: ExplainPage | None = None,
    problem: Problem | None = None,
) -> HTMLResponse:
    current, trouble = _current(desk)
    return html(
        request,
        "routes.html",
        problem.status if problem else 200,
        title="Routes",
        here="routes",
        current=current,
        trouble=trouble,
        fields=dict.fromkeys(FIELDS, "") | fields,
        told=told,
        problem=problem,
        watches=list(desk.shelf.all().watches),
    )


def _current(desk: Desk) -> tuple[RoutesPage | None, str]:
    try:
        return routes_in_use(desk.lookout), ""
    except Problem as problem:
        return None, problem.detail
