"""Routes over HTTP: which are in use, take over the changed file, say who would be told."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Final

from fastapi import APIRouter
from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict
from pydantic.config import JsonDict

from services.backbone.web.problems import Problem
from services.contracts.lookout import Asked, ExplainPage, Line, RoutesPage, Stand, Told
from services.contracts.records import Alert
from services.lookout.api.desk import Desk, Served
from services.lookout.api.operators import Operator
from services.lookout.decisions.explaining import askable
from services.lookout.routes.problems import BadRoutes
from services.lookout.routes.problems import Problem as Wrong
from services.lookout.routing import Target, decide

_EXAMPLE: Final[JsonDict] = {
    "alert": {
        "alert_id": "0123456789abcdef0123456789abcdef",
        "watch": "over-heat",
        "severity": "critical",
        "summary": "hall north is at 41 degrees",
        "key": {"hall": "north"},
        "appended_at_ms": 1_795_253_400_125,
        "detected_at_ms": 1_795_253_400_128,
        "auditor": "a",
    },
    "at": "2026-11-21T12:00:00Z",
}


class ExplainBody(BaseModel):
    """An alert as on topic `alerts`, and the moment at which it would come."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_EXAMPLE]})

    alert: Alert
    at: Annotated[AwareDatetime, AfterValidator(askable)] | None = None


def routes_routes() -> APIRouter:
    """Return the routes about routes."""
    router = APIRouter(prefix="/routes", tags=["routes"])

    @router.get("", summary="Show which routes are in use")
    def current(operator: Operator, desk: Served) -> RoutesPage:
        return _page(desk)

    @router.post("/reload", summary="Take over the routes file now; refused as a whole if wrong")
    def reload(operator: Operator, desk: Served) -> RoutesPage:
        try:
            desk.routes.reload()
        except BadRoutes as error:
            lines = [line.model_dump() for line in _lines(error.problems)]
            raise Problem(422, "bad_routes", str(error), problems=lines) from None
        return _page(desk)

    @router.post("/explain", summary="Tell who would be told of an alert, and record nothing")
    def explain(body: ExplainBody, operator: Operator, desk: Served) -> ExplainPage:
        at = body.at or datetime.fromtimestamp(desk.clock.now_ms() / 1000, UTC)
        return explained(body.alert, at, desk)

    return router


def explained(alert: Alert, at: datetime, desk: Desk) -> ExplainPage:
    """Return who would be told of an alert at a moment."""
    plan, dropped = decide(desk.routes.current(), alert, at), desk.dropped.reasons()
    return ExplainPage(
        routed_by=list(plan.routed_by),
        considered=[
            Asked(route=each.route, fits=each.fits, why=each.why) for each in plan.considered
        ],
        told=[
            Told(
                channel=each.target.channel,
                recipient=each.target.recipient,
                route=each.route,
                template=each.template,
                fallback=[_stand(target, dropped) for target in each.fallback],
                unreachable=dropped.get((each.target.channel, each.target.recipient)),
            )
            for each in plan.instructions
        ],
        escalations=list(plan.escalations),
    )


def _stand(target: Target, dropped: Mapping[tuple[str, str], str]) -> Stand:
    why = dropped.get((target.channel, target.recipient))
    return Stand(channel=target.channel, recipient=target.recipient, unreachable=why)


def _page(desk: Desk) -> RoutesPage:
    holder = desk.routes
    problems = _lines(holder.problem.problems) if holder.problem else []
    warnings = _lines(holder.warnings)
    version_id = holder.current().version_id
    return RoutesPage(version_id=version_id, problems=problems, warnings=warnings)


def _lines(found: Iterable[Wrong]) -> list[Line]:
    return [Line(line=each.line, reason=each.reason, file=each.file) for each in found]
