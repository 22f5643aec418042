"""What explains an alert, as JSON: every decision about it, and what the topics have behind it."""

from fastapi import APIRouter

from services.backbone.ledger.answers.why import Answer
from services.backbone.web.problems import Problem
from services.console.api.terms import AlertId, AlertStart, known_alert
from services.console.behind import Behind
from services.console.desk import Served
from services.console.people.door import Reader


def explaining_api() -> APIRouter:
    """Return the routes; they run on threads, since the ledger and the brokers are waited for."""
    router = APIRouter(prefix="/v1", tags=["alerts"])

    @router.get("/why/{alert_id}", summary="Tell every decision about an alert")
    def why(person: Reader, desk: Served, alert_id: AlertStart) -> Answer:
        found = desk.answers.why(alert_id)
        if found is None:
            raise Problem(404, "no_such_alert", desk.answers.absent(alert_id))
        return found

    @router.get("/alerts/{alert_id}/behind", summary="Each auditor's own finding, and the events")
    def behind(person: Reader, desk: Served, alert_id: AlertId) -> Behind:
        return desk.behind(known_alert(desk.reader, alert_id))

    return router
