"""Alerts as JSON: the list, one, and taking it in hand."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, Field

from services.backbone.ledger.operators.acknowledgements import NOTE_LIMIT_CHARACTERS, NoSuchAlert
from services.backbone.ledger.rows import AlertDetail, AlertRow, Page
from services.console.api.asked import Asked
from services.console.api.terms import (
    DEFAULT_LIMIT,
    AlertId,
    Body,
    Cursor,
    Limit,
    PlainText,
    known_alert,
    no_such_alert,
    read_cursor,
)
from services.console.deeds.alerts import acknowledge
from services.console.desk import Served
from services.console.people.door import Reader, Responder


class NoteBody(Body):
    """What there is to say about taking an alert in hand."""

    note: Annotated[
        str, PlainText, Field(max_length=NOTE_LIMIT_CHARACTERS, examples=["I look at the fans"])
    ] = ""


class AcknowledgedBy(BaseModel):
    """Whether this was the person's first word on the alert, or another note, and who was first of
    all.
    """

    alert_id: str
    new: bool
    noted: bool
    first: str


def alert_api() -> APIRouter:
    """Return the routes; they run on threads, since the ledger's client waits."""
    router = APIRouter(prefix="/v1", tags=["alerts"])

    @router.get("/alerts", summary="Alerts that fit, newest first; all if nothing is asked for")
    def newest(
        person: Reader,
        desk: Served,
        search: Asked,
        limit: Limit = DEFAULT_LIMIT,
        cursor: Cursor = None,
    ) -> Page[AlertRow]:
        return desk.reader.alerts(limit, read_cursor(cursor), search)

    @router.get("/alerts/{alert_id}", summary="Show one alert with its deliveries and attempts")
    def one(person: Reader, desk: Served, alert_id: AlertId) -> AlertDetail:
        return known_alert(desk.reader, alert_id)

    @router.post("/alerts/{alert_id}/acknowledge", summary="Take an alert in hand; twice is once")
    def take(
        alert_id: AlertId, person: Responder, desk: Served, body: NoteBody | None = None
    ) -> AcknowledgedBy:
        try:
            done = acknowledge(desk.pool, person, alert_id, body.note if body else "")
        except NoSuchAlert:
            raise no_such_alert(alert_id) from None
        return AcknowledgedBy(
            alert_id=alert_id, new=done.new, noted=done.noted, first=done.first.person
        )

    return router
