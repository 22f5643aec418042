"""Alerts over HTTP: acknowledge one, and ask why it was sent or not."""

from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import BaseModel, ConfigDict, Field

from services.backbone.ledger.answers.why import Answer
from services.backbone.ledger.operators.acknowledgements import (
    NOTE_LIMIT_CHARACTERS,
    PERSON_LIMIT_CHARACTERS,
    Acknowledgement,
    NoSuchAlert,
)
from services.backbone.log import logger
from services.backbone.web.problems import Problem
from services.lookout.api.desk import Served
from services.lookout.api.operators import Operator

log = logger(__name__)

AlertId = Annotated[str, Path(pattern=r"^[0-9a-f]{32}$")]


class AcknowledgeBody(BaseModel):
    """Who has the alert in hand, and what there is to say about it."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"note": "I look at the fans"}]}
    )

    note: Annotated[str, Field(max_length=NOTE_LIMIT_CHARACTERS)] = ""
    person: Annotated[
        str,
        Field(max_length=PERSON_LIMIT_CHARACTERS, description="the key's name, if left out"),
    ] = ""


class AcknowledgedPage(BaseModel):
    """Whether this was the person's first word on the alert, or another note, and everybody's so
    far with their first notes.
    """

    alert_id: str
    new: bool
    noted: bool
    acknowledgements: list[Acknowledgement]


def alert_routes() -> APIRouter:
    """Return the routes; they run on threads, since the ledger's client waits."""
    router = APIRouter(prefix="/alerts", tags=["alerts"])

    @router.post("/{alert_id}/acknowledge", summary="Take an alert in hand; twice is once")
    def acknowledge(
        alert_id: AlertId, operator: Operator, desk: Served, body: AcknowledgeBody | None = None
    ) -> AcknowledgedPage:
        said = body or AcknowledgeBody()
        person = said.person or operator
        if person != operator:
            log.info("acknowledged_for", alert_id=alert_id, person=person, key=operator)
        try:
            done = desk.acknowledgements.acknowledge(
                alert_id, person=person, via="api", note_text=said.note
            )
        except NoSuchAlert as error:
            raise Problem(404, "no_such_alert", str(error)) from None
        return AcknowledgedPage(
            alert_id=alert_id,
            new=done.new,
            noted=done.noted,
            acknowledgements=list(done.all),
        )

    @router.get("/{alert_id}/why", summary="Tell every decision about an alert")
    def why(alert_id: AlertId, operator: Operator, desk: Served) -> Answer:
        found = desk.answers.why(alert_id)
        if found is None:
            raise Problem(404, "no_such_alert", desk.answers.absent(alert_id))
        return found

    return router
