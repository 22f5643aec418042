"""Routes as JSON: which are in use, taking over the file, who would be told of a made-up alert."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import AwareDatetime, Field

from services.console.api.terms import Body
from services.console.deeds.routes import MadeUp, reload_routes, routes_in_use, would_be_told
from services.console.desk import Served
from services.console.people.door import Reader, Responder
from services.contracts.lookout import ExplainPage, RoutesPage
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
    """Return the routes; the answers are the lookout's own."""
    router = APIRouter(prefix="/v1/routes", tags=["routes"])

    @router.get("", summary="The routes in use, and what is wrong with newer ones")
    def current(person: Reader, desk: Served) -> RoutesPage:
        return routes_in_use(desk.lookout)

    @router.post("/reload", summary="Take over the routes' file now")
    def reload(person: Responder, desk: Served) -> RoutesPage:
        return reload_routes(desk.lookout, desk.audit, person)

    @router.post("/explain", summary="Tell who would be told of a made-up alert; record nothing")
    def explain(body: MadeUpBody, person: Responder, desk: Served) -> ExplainPage:
        at = body.at.isoformat() if body.at else ""
        made_up = MadeUp(body.watch, body.severity, body.labels, at)
        return would_be_told(desk.lookout, made_up, desk.clock.now_ms())

    return router
