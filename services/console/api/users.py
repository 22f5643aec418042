"""Users as JSON, for admins: who may come in, and as what."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from services.backbone.errors import Refused
from services.backbone.web.problems import Problem
from services.console.api.terms import Body, PlainText
from services.console.desk import Served
from services.console.people.audit import Deed
from services.console.people.door import Admin, Administrator
from services.console.people.passwords import made
from services.console.people.roles import Role
from services.console.people.users import USERS_LIMIT

UserName = Annotated[str, PlainText, Path(min_length=1, max_length=100)]


class UserRow(BaseModel):
    """One user; `issuer` is the login provider's address, null for a local user."""

    name: str
    role: str
    made_at: datetime
    made_by: str
    closed_at: datetime | None
    issuer: str | None


class NewUserBody(Body):
    """Whom to let in; the name is checked as the page's is."""

    name: Annotated[str, PlainText, Field(max_length=100, examples=["ann"])]
    role: Role


class RoleBody(Body):
    """What somebody may do from now on."""

    role: Role


class Password(BaseModel):
    """A password, told this once."""

    name: str
    password: str


class Changed(BaseModel):
    """Whose account was changed."""

    name: str


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except Refused as error:
        raise Problem(422, "refused", str(error)) from None


def user_api() -> APIRouter:
    """Return the routes; they run on threads, since the ledger's client waits."""
    router = APIRouter(prefix="/v1/users", tags=["users"])

    @router.get("", summary="Everybody who may come in, or might, by name; for admins")
    def every(
        person: Admin,
        desk: Served,
        limit: Annotated[int, Query(ge=1, le=USERS_LIMIT)] = USERS_LIMIT,
        after: Annotated[
            str, PlainText, Query(max_length=512, description="the last name of the page before")
        ] = "",
    ) -> list[UserRow]:
        page = desk.users.page(after, limit)
        return [UserRow.model_validate(each, from_attributes=True) for each in page]

    @router.post("", status_code=201, summary="Let somebody in; for admins")
    def add(body: NewUserBody, person: Administrator, desk: Served) -> Password:
        with _refusals():
            password = made()
            desk.users.add(person, body.name, password, body.role)
        return Password(name=body.name, password=password)

    @router.post("/{name}/password", summary="Give a new password; for admins")
    def renew(name: UserName, person: Administrator, desk: Served) -> Password:
        with _refusals():
            password = made()
            desk.users.set_password(person, password, Deed("reset password", name))
        return Password(name=name, password=password)

    @router.put("/{name}/role", summary="Give another role; for admins")
    def set_role(name: UserName, body: RoleBody, person: Administrator, desk: Served) -> Changed:
        with _refusals():
            desk.users.set_role(person, name, body.role)
        return Changed(name=name)

    @router.post("/{name}/close", summary="Let somebody in no more; for admins")
    def close(name: UserName, person: Administrator, desk: Served) -> Changed:
        with _refusals():
            desk.users.close(person, name)
        return Changed(name=name)

    @router.post("/{name}/forget", summary="Forget whom a login provider brought; for admins")
    def forget(name: UserName, person: Administrator, desk: Served) -> Changed:
        with _refusals():
            desk.guests.forget(person, name)
        return Changed(name=name)

    return router
