"""The routes in use, and who would be told of a made-up alert."""

from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.responses import Response

from services.backbone.web.problems import Problem
from services.console.deeds.silences import match_of
from services.console.desk import Desk, Served
from services.console.people.audit import Deed
from services.console.people.door import Press, Reader, ResponderPress
from services.console.rendering import html

FIELDS: Final = ("watch", "severity", "labels", "at")
MADE_UP: Final = "0" * 32


def route_pages() -> APIRouter:
    """Return the routes of the page."""
    router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

    @router.get("/routes")
    def page(request: Request, person: Reader, desk: Served) -> HTMLResponse:
        return _page(request, desk, {"severity": "critical"})

    @router.post("/routes")
    def press(request: Request, press: ResponderPress, desk: Served) -> Response:
        fields = {name: press.text(name, 2000) for name in FIELDS}
        try:
            if press.fields.get("what") == "reload":
                desk.lookout.ask("POST", "/routes/reload")
                desk.audit.note(press.person, Deed("reload routes", "routes"))
                return RedirectResponse("/routes?said=reloaded", 303)
            told = desk.lookout.ask("POST", "/routes/explain", _question(press, desk))
        except Problem as problem:
            return _page(request, desk, fields, problem=problem)
        return _page(request, desk, fields, told)

    return router


def _question(press: Press, desk: Desk) -> dict[str, Any]:
    match = match_of(dict(press.fields))
    now_ms = desk.clock.now_ms()
    alert = {
        "alert_id": MADE_UP,
        "watch": match.get("watch", ""),
        "severity": match.get("severity", "critical"),
        "summary": "made up",
        "key": {"made": "up"},
        "labels": match.get("labels", {}),
        "appended_at_ms": now_ms,
        "detected_at_ms": now_ms,
        "auditor": "a",
    }
    at = press.text("at", 40)
    return {"alert": alert} | ({"at": at if at.endswith("Z") else f"{at}Z"} if at else {})


def _page(
    request: Request,
    desk: Desk,
    fields: dict[str, str],
    told: Any = None,
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


def _current(desk: Desk) -> tuple[Any, str]:
    try:
        return desk.lookout.ask("GET", "/routes"), ""
    except Problem as problem:
        return None, problem.detail
