"""Test messages: the whole way to one recipient, a person or a route."""

from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.responses import Response

from services.backbone.web.problems import Problem
from services.console.desk import Served
from services.console.people.door import Reader, ResponderPress
from services.console.rendering import html

FIELDS: Final = ("channel", "recipient", "person", "route", "severity", "text")


def trial_pages() -> APIRouter:
    """Return the routes of the page."""
    router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

    @router.get("/test")
    def page(request: Request, person: Reader) -> HTMLResponse:
        return _page(request, {})

    @router.post("/test")
    def send(request: Request, press: ResponderPress, desk: Served) -> Response:
        fields = {name: press.text(name) for name in FIELDS}
        body = {name: value for name, value in fields.items() if value}
        try:
            sent = desk.deeds.test(press.person, body, press.text("key", 256) or None)
        except Problem as problem:
            return _page(request, fields, problem, press.key_again(problem))
        return RedirectResponse(f"/test?said=sent&alert={sent['alert_id']}", 303)

    return router


def _page(
    request: Request, fields: dict[str, str], problem: Problem | None = None, press_key: str = ""
) -> HTMLResponse:
    alert = request.query_params.get("alert", "")
    return html(
        request,
        "test.html",
        problem.status if problem else 200,
        press_key,
        title="Send a test",
        here="test",
        fields=dict.fromkeys(FIELDS, "") | fields,
        alert=alert if len(alert) == 32 and alert.isalnum() else "",
        problem=problem,
    )
