"""Silences and tests as JSON; the lookout does them, in the name of the person who asks."""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import AwareDatetime, BaseModel, Field

from services.backbone.ledger.operators.silences import LIST_LIMIT, SilenceRow, Silences
from services.backbone.ledger.rows import Page
from services.console.api.terms import DEFAULT_LIMIT, Body, Cursor, Key, SilenceId, read_cursor
from services.console.deeds.silences import Quiet
from services.console.desk import Served
from services.console.people.door import Reader, Responder
from services.contracts.lookout import PreviewPage
from services.contracts.records import Name, Severity, ShortText


class QuietBody(Body):
    """Which alerts are not to be sent, for how long, and why."""

    match: Annotated[
        dict[str, Any],
        Field(
            description="as in a route: watch, severity, labels",
            examples=[{"watch": "over-heat", "labels": {"hall": "north"}}],
        ),
    ]
    lasts: Annotated[str, Field(max_length=64, examples=["2h"])]
    reason: Annotated[ShortText, Field(examples=["the fans are replaced"])] = ""
    starts_at: Annotated[AwareDatetime | None, Field(description="now, if left out")] = None

    def quiet(self) -> Quiet:
        """Return it as deeds take it."""
        return Quiet(self.match, self.lasts, self.reason, self.starts_at)


class TrialBody(Body):
    """Whom to send a test: channel and recipient, or a person, or a route."""

    channel: Annotated[Name | None, Field(examples=["email"])] = None
    recipient: Annotated[ShortText | None, Field(examples=["desk@example.com"])] = None
    person: Name | None = None
    route: Name | None = None
    severity: Severity = Severity.INFO
    text: ShortText = ""


class TrialSent(BaseModel):
    """The test's alert and deliveries."""

    alert_id: str
    delivery_ids: list[str]


def silence_api() -> APIRouter:
    """Return the routes; they run on threads, since clients wait."""
    router = APIRouter(prefix="/v1", tags=["silences"])

    @router.get("/silences", summary="List silences, newest first")
    def newest(
        person: Reader,
        desk: Served,
        limit: Annotated[int, Query(ge=1, le=LIST_LIMIT)] = DEFAULT_LIMIT,
        cursor: Cursor = None,
    ) -> Page[SilenceRow]:
        return Silences(desk.pool).newest(limit, read_cursor(cursor))

    @router.post("/silences", status_code=201, summary="Silence alerts for a while")
    def silence(body: QuietBody, person: Responder, desk: Served, key: Key = None) -> SilenceRow:
        return desk.deeds.silence(person, body.quiet(), key)

    @router.post("/silences/preview", summary="Show what a silence would catch; make none")
    def preview(body: QuietBody, person: Responder, desk: Served) -> PreviewPage:
        return desk.deeds.preview(person, body.quiet())

    @router.delete("/silences/{silence_id}", summary="End a silence now")
    def end(silence_id: SilenceId, person: Responder, desk: Served) -> SilenceRow:
        return desk.deeds.end(person, silence_id)

    @router.post("/test-sends", status_code=202, summary="Send a test the whole way")
    def test(body: TrialBody, person: Responder, desk: Served, key: Key = None) -> TrialSent:
        sent = desk.deeds.test(person, body.model_dump(mode="json", exclude_none=True), key)
        return TrialSent(alert_id=sent["alert_id"], delivery_ids=sent["delivery_ids"])

    return router
