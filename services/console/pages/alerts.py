"""The pages of alerts: the list, and one alert with its life."""

from typing import Annotated, Final

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.responses import Response

from services.backbone.ledger.operators.acknowledgements import (
    NOTE_LIMIT_CHARACTERS,
    Acknowledged,
    NoSuchAlert,
)
from services.backbone.web.problems import Problem
from services.console.api.asked import Asked, spelled
from services.console.api.terms import AlertId, known_alert, no_such_alert, read_cursor
from services.console.deeds.alerts import acknowledge
from services.console.desk import Served
from services.console.people.door import Reader, ResponderPress
from services.console.rendering import html
from services.console.timeline import timeline

ALERTS_SHOWN: Final = 50
EVENT_IDS_SHOWN: Final = 200
_SAID: Final = {
    "topics_away": "The topics cannot be read now.",
    "topics_busy": "Others are reading the topics now: load the page again in a moment.",
}
"""Why nothing is shown of what is behind an alert, by the problem's reason."""


def alert_pages() -> APIRouter:
    """Return the routes of the pages."""
    router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

    @router.get("/alerts")
    def newest(
        request: Request,
        person: Reader,
        desk: Served,
        search: Asked,
        cursor: Annotated[str | None, Query(max_length=64)] = None,
    ) -> HTMLResponse:
        page = desk.reader.alerts(ALERTS_SHOWN, read_cursor(cursor), search)
        return html(
            request,
            "alerts.html",
            title="Alerts",
            here="alerts",
            page=page,
            search=search,
            spelled=spelled(search),
        )

    @router.get("/alerts/{alert_id}")
    def one(request: Request, person: Reader, alert_id: AlertId, desk: Served) -> HTMLResponse:
        detail, why = desk.reader.alert(alert_id), desk.answers.why(alert_id)
        if detail is None or why is None:
            raise Problem(404, "no_such_alert", desk.answers.absent(alert_id))
        ids = detail.record.get("event_ids", [])
        return html(
            request,
            "alert.html",
            title=detail.alert.summary,
            here="alerts",
            detail=detail,
            why=why,
            declared=desk.shelf.one(detail.alert.watch),
            sentences={each.delivery_id: each.sentence for each in why.recipients},
            moments=timeline(detail),
            event_ids=ids[:EVENT_IDS_SHOWN],
            more_ids=max(0, len(ids) - EVENT_IDS_SHOWN),
        )

    @router.get("/alerts/{alert_id}/behind")
    def behind(request: Request, person: Reader, alert_id: AlertId, desk: Served) -> HTMLResponse:
        detail = known_alert(desk.reader, alert_id)
        try:
            found, trouble = desk.behind(detail), ""
        except Problem as problem:
            found, trouble = None, _SAID[problem.reason]
        return html(request, "behind.html", found=found, trouble=trouble)

    @router.post("/alerts/{alert_id}/acknowledge")
    def take(alert_id: AlertId, press: ResponderPress, desk: Served) -> Response:
        try:
            done = acknowledge(
                desk.pool, press.person, alert_id, press.text("note", NOTE_LIMIT_CHARACTERS)
            )
        except NoSuchAlert:
            raise no_such_alert(alert_id) from None
        return RedirectResponse(f"/alerts/{alert_id}?said={_taken(done)}", 303)

    return router


def _taken(done: Acknowledged) -> str:
    if done.noted:
        return "noted"
    return "acknowledged" if done.new else "you had acknowledged it before"
