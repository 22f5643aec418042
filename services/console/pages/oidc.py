"""Logging in by a login provider: there and back, and what is left after logging out."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.responses import Response

from services.backbone.web.problems import Problem
from services.console.desk import Desk, Served
from services.console.oidc.attempt import LASTS_SECONDS, attempt_of
from services.console.oidc.login import OidcLogin, Return
from services.console.oidc.settings import CALLBACK_PATH
from services.console.pages.login import login_page
from services.console.people.door import AtDoor, Door
from services.console.people.way_back import local
from services.console.rendering import html

Told = Annotated[str, Query(max_length=4096)]


def oidc_routes() -> APIRouter:
    """Return the routes."""
    router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

    @router.get("/login/oidc")
    def begin(
        request: Request,
        desk: Served,
        door: AtDoor,
        next_page: Annotated[str, Query(alias="next", max_length=2000)] = "/",
    ) -> Response:
        try:
            page, attempt = _provider(desk).begin(local(next_page))
        except Problem as problem:
            return login_page(request, desk, local(next_page), problem)
        answer = RedirectResponse(page, 303)
        answer.set_cookie(
            _cookie(door),
            attempt.cookie(),
            max_age=LASTS_SECONDS,
            secure=door.secure,
            httponly=True,
            samesite="lax",
        )
        return answer

    @router.get(CALLBACK_PATH)
    def come_back(
        request: Request,
        desk: Served,
        door: AtDoor,
        state: Told = "",
        code: Told = "",
        error: Told = "",
        iss: Told = "",
    ) -> Response:
        attempt = attempt_of(request.cookies.get(_cookie(door), ""))
        address = request.client.host if request.client else ""
        back = local(attempt.back) if attempt else "/"
        try:
            given = Return(state, code, error, iss)
            token = _provider(desk).finish(attempt, given, address)
        except Problem as problem:
            answer: Response = login_page(request, desk, back, problem)
        else:
            answer = RedirectResponse(back, 303)
            door.let_in(answer, token)
        _end_try(answer, door)
        return answer

    @router.get("/logged-out")
    def logged_out(request: Request, desk: Served) -> HTMLResponse:
        leaving = desk.oidc.leaving() if desk.oidc else None
        return html(request, "logged_out.html", title="Logged out", leaving=leaving)

    return router


def _provider(desk: Desk) -> OidcLogin:
    if desk.oidc is None:
        raise Problem(404, "no_provider", "there is no login provider here; log in by name")
    return desk.oidc


def _cookie(door: Door) -> str:
    return f"{door.cookie}-login"


def _end_try(answer: Response, door: Door) -> None:
    """One try ends with its first answer, good or bad: the same answer again opens nothing."""
    answer.delete_cookie(_cookie(door), secure=door.secure, httponly=True, samesite="lax")
