"""Routes as JSON: which are in use, taking over the file, who would be told of a made-up alert."""

from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import AwareDatetime, Field

from services.console.api.terms import Body
from services.console.deeds.routes import MadeUp, reload_routes, would_be_told
from services.console.desk import Served
from services.console.people.door import Reader, Responder
from services.contracts.records import Name, Severity, ShortText


class MadeUpBody(Body):
    """A made-up alert, and the moment at which it would come; now, if nothing is said."""

    watch: Annotated[Name, Field(examples=["over-heat"])]
    severity: Severity = Severity.CRITICAL
    labels: Annotated[
        dict[Name, ShortText],
        Field(max_length=32, default_factory=dict, examples=[{"hall": "north"}]),
    ]
    at: AwareDatetime | None = None


def route_api() -> APIRouter:
    """Return the routes; the answers are the lookout's own, described by its API."""
    router = APIRouter(prefix="/v1/routes", tags=["routes"])

    @router.get("", summary="The routes in use, and what is wrong with newer ones")
    def current(person: Reader, desk: Served) -> dict[str, Any]:
        told: dict[str, Any] = desk.lookout.ask("GET", "/routes")
        return told

    @router.post("/reload", summary="Take over the routes' file now")
    def reload(person: Responder, desk: Served) -> dict[str, Any]:
        told: dict[str, Any] = reload_routes(desk.lookout, desk.audit, person)
        return told

    @router.post("/explain", summary="Tell who would be told of a made-up alert; record nothing")
    def explain(body: MadeUpBody, person: Responder, desk: Served) -> dict[str, Any]:
        at = body.at.isoformat() if body.at else ""
        made_up = MadeUp(body.watch, body.severity, body.labels, at)
        told: dict[str, Any] = would_be_told(desk.lookout, made_up, desk.clock.now_ms())
        return told

    return router
