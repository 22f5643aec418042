"""For admins: the audit log and the users."""

from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.responses import Response

from services.backbone.errors import Refused
from services.backbone.web.problems import Problem
from services.console.api.terms import PlainText
from services.console.desk import Desk, Served
from services.console.people.audit import Deed
from services.console.people.door import Admin, AdminPress, Press
from services.console.people.passwords import made
from services.console.people.roles import Role
from services.console.people.users import USERS_LIMIT
from services.console.rendering import html

SHOWN: Final = 100
NAME_LIMIT_CHARACTERS: Final = 100


@dataclass(frozen=True, slots=True)
class New:
    """What the form of a new user says."""

    name: str = ""
    role: str = ""


NOBODY_NEW: Final = New()


def admin_pages() -> APIRouter:
    """Return the routes of the pages."""
    router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

    @router.get("/audit")
    def log(
        request: Request,
        person: Admin,
        desk: Served,
        before: Annotated[int | None, Query(ge=1, le=2**62)] = None,
    ) -> HTMLResponse:
        rows = desk.audit.newest(SHOWN, before)
        older = rows[-1].audit_id if len(rows) == SHOWN else None
        return html(request, "audit.html", title="Audit log", here="audit", rows=rows, older=older)

    @router.get("/users")
    def users(
        request: Request,
        person: Admin,
        desk: Served,
        after: Annotated[str, PlainText, Query(max_length=512)] = "",
    ) -> HTMLResponse:
        return _users(request, desk, after=after)

    @router.post("/users")
    def press(request: Request, press: AdminPress, desk: Served) -> Response:
        try:
            return _changed(request, press, desk)
        except Refused as error:
            return _users(request, desk, Problem(422, "refused", str(error)), new=_new(press))

    return router


def _changed(request: Request, press: Press, desk: Desk) -> Response:
    name, what, by = _name(press), press.fields.get("what", ""), press.person
    if what in ("add", "password"):
        password = made()
        if what == "add":
            desk.users.add(by, name, password, _role(press))
        else:
            desk.users.set_password(by, password, Deed("reset password", name))
        return _users(request, desk, shown=(name, password))
    if what == "role":
        desk.users.set_role(by, name, _role(press))
    elif what == "forget":
        desk.guests.forget(by, name)
    elif what == "close":
        desk.users.close(by, name)
    else:
        raise Problem(422, "bad_form", "this is no form of ours; load the page again")
    return RedirectResponse("/users?said=done", 303)


def _new(press: Press) -> New:
    """Return what the form of a new user said, where it was that form."""
    if press.fields.get("what") != "add":
        return NOBODY_NEW
    return New(_name(press), press.fields.get("role", ""))


def _name(press: Press) -> str:
    return press.text("name", NAME_LIMIT_CHARACTERS)


def _role(press: Press) -> Role:
    try:
        return Role(press.fields.get("role", ""))
    except ValueError:
        raise Refused(f"a role is one of {', '.join(Role)}") from None


def _users(
    request: Request,
    desk: Desk,
    problem: Problem | None = None,
    shown: tuple[str, str] | None = None,
    after: str = "",
    new: New = NOBODY_NEW,
) -> HTMLResponse:
    page = desk.users.page(after)
    return html(
        request,
        "users.html",
        problem.status if problem else 200,
        title="Users",
        here="users",
        users=page,
        last=page[-1].name if len(page) == USERS_LIMIT else None,
        roles=list(Role),
        problem=problem,
        shown=shown,
        new=new,
    )
