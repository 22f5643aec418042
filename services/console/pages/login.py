"""Logging in and out, and one's own password."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.responses import Response

from services.backbone.errors import Refused
from services.backbone.web.problems import Problem
from services.console.desk import Desk, Served
from services.console.people.audit import Deed
from services.console.people.door import AtDoor, Reader, ReaderPress, check_origin, read_form
from services.console.people.way_back import local
from services.console.rendering import html

Form = Annotated[dict[str, str], Depends(read_form)]


def login_routes() -> APIRouter:
    """Return the routes."""
    router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

    @router.get("/login")
    def page(
        request: Request,
        desk: Served,
        next_page: Annotated[str, Query(alias="next", max_length=2000)] = "/",
    ) -> HTMLResponse:
        return login_page(request, desk, local(next_page))

    @router.post("/login")
    def log_in(request: Request, form: Form, desk: Served, door: AtDoor) -> Response:
        check_origin(request)
        back = local(form.get("next", "/"))
        name, password = form.get("name", ""), form.get("password", "")
        try:
            token = desk.login.let_in(name, password, _address(request))
        except Problem as problem:
            return login_page(request, desk, back, problem)
        answer = RedirectResponse(back, 303)
        door.let_in(answer, token)
        return answer

    @router.post("/logout")
    def log_out(press: ReaderPress, desk: Served, door: AtDoor) -> Response:
        door.sessions.close(press.person.token)
        desk.audit.note(press.person, Deed("log out", press.person.name))
        user = desk.users.find(press.person.name)
        answer = RedirectResponse("/logged-out" if user and user.issuer else "/", 303)
        door.let_out(answer)
        return answer

    @router.get("/me")
    def me(request: Request, person: Reader, desk: Served) -> HTMLResponse:
        user = desk.users.find(person.name)
        issuer = user.issuer if user else None
        return html(request, "me.html", title="Your password", problem="", issuer=issuer)

    @router.post("/me")
    def change(request: Request, press: ReaderPress, desk: Served, door: AtDoor) -> Response:
        if not press.person.token:
            raise Problem(403, "not_allowed", "a key has no password; log in by the page")
        old, new = press.fields.get("old", ""), press.fields.get("new", "")
        try:
            token = desk.login.change(press.person, old, new, _address(request))
        except Problem as problem:
            return _not_changed(request, problem)
        except Refused as error:
            return _not_changed(request, Problem(422, "refused", str(error)))
        answer = RedirectResponse("/", 303)
        door.let_in(answer, token)
        return answer

    return router


def login_page(
    request: Request, desk: Desk, back: str, problem: Problem | None = None
) -> HTMLResponse:
    """Return the page to log in, with what went wrong before."""
    page = html(
        request,
        "login.html",
        problem.status if problem else 200,
        title="Log in",
        back=back,
        problem=problem.detail if problem else "",
        oidc=desk.oidc.settings.console_oidc_label if desk.oidc else "",
    )
    page.headers.update(problem.headers if problem else {})
    return page


def _not_changed(request: Request, problem: Problem) -> HTMLResponse:
    if problem.status == 401:  # Who asks is known; it is the form that is wrong.
        problem = Problem(422, "refused", "the old password does not fit")
    said, status = problem.detail, problem.status
    page = html(request, "me.html", status, title="Your password", problem=said, issuer=None)
    page.headers.update(problem.headers)
    return page


def _address(request: Request) -> str:
    return request.client.host if request.client else ""
