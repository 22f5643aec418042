"""Silences over HTTP: try one, create it, list them, end one before its time."""

import uuid
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Final

from fastapi import APIRouter, Header, Path, Query
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field
from pydantic.config import JsonDict

from services.backbone.errors import Refused
from services.backbone.ledger.operators.silences import LIST_LIMIT, NewSilence, SilenceRow
from services.backbone.log import logger
from services.backbone.web.problems import Problem
from services.contracts.durations import seconds
from services.contracts.ids import digest
from services.contracts.lookout import Caught, OpenDelivery, PreviewPage
from services.contracts.records import ShortText
from services.lookout.api.desk import Desk, Served
from services.lookout.api.operators import Operator
from services.lookout.decisions.silencing import preview, read_match

log = logger(__name__)

SilenceId = Annotated[str, Path(pattern=r"^[0-9a-f]{32}$")]
IdempotencyKey = Annotated[
    str | None,
    Header(max_length=256, description="the same key again is the same silence"),
]
EndedBy = Annotated[
    ShortText, Query(description="who ends it; the key's name, if left out; twice is once")
]

_NEWEST: Final = 50
_LIMIT: Final = f"if left out, {_NEWEST}, and all of those that are not over yet"
_EXAMPLE: Final[JsonDict] = {
    "match": {"watch": "over-heat", "labels": {"hall": "north"}},
    "lasts": "2h",
    "reason": "the fans are replaced",
}


class SilenceBody(BaseModel):
    """Which alerts, from when to when, who says so and why."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_EXAMPLE]})

    match: Annotated[dict[str, Any], Field(description="as in a route: watch, severity, labels")]
    starts_at: Annotated[AwareDatetime | None, Field(description="now, if left out")] = None
    ends_at: AwareDatetime | None = None
    lasts: Annotated[str | None, Field(max_length=64, description="instead of ends_at")] = None
    reason: ShortText = ""
    author: Annotated[ShortText, Field(description="the key's name, if left out")] = ""

    def times(self, now: datetime) -> tuple[datetime, datetime]:
        """Return from when to when it is silent.

        Raises:
            Problem: 422, the end is not given in exactly one way.
        """
        starts_at = self.starts_at or now
        if (self.ends_at is None) == (self.lasts is None):
            raise Problem(422, "bad_silence", "give either ends_at or lasts, for example lasts: 2h")
        try:
            ends_at = self.ends_at or starts_at + timedelta(seconds=seconds(self.lasts or ""))
        except (ValueError, OverflowError) as error:
            raise Problem(422, "bad_silence", f"lasts: {error}") from None
        return starts_at, ends_at


class SilencesPage(BaseModel):
    """Silences, newest first."""

    silences: list[SilenceRow]


def silence_routes() -> APIRouter:
    """Return the routes; they run on threads, since the ledger's client waits."""
    router = APIRouter(prefix="/silences", tags=["silences"])

    @router.post("", status_code=201, summary="Silence alerts for a while")
    def create(
        body: SilenceBody, operator: Operator, desk: Served, idempotency_key: IdempotencyKey = None
    ) -> SilenceRow:
        now = _now(desk)
        starts_at, ends_at = body.times(now)
        read_match(body.match, desk.routes.current().times)
        asked = NewSilence(
            silence_id=_silence_id(operator, idempotency_key),
            match=body.match,
            starts_at=starts_at,
            ends_at=ends_at,
            author=body.author or operator,
            reason=body.reason,
            source=f"api {operator}",
        )
        made = desk.silences.create(asked)
        if not _is_same(made, asked, body):
            said = f"this key has made silence {made.silence_id}, which is another: take a new key"
            raise Problem(409, "key_used", said)
        return made

    @router.post("/preview", summary="Show what a silence would catch, and create nothing")
    def try_out(body: SilenceBody, operator: Operator, desk: Served) -> PreviewPage:
        return previewed(body, desk)

    @router.get("", summary="List silences, newest first")
    def newest(
        operator: Operator,
        desk: Served,
        limit: Annotated[int | None, Query(ge=1, le=LIST_LIMIT, description=_LIMIT)] = None,
        standing: Annotated[bool, Query(description="only those not over yet")] = False,
    ) -> SilencesPage:
        silences = desk.silences
        if standing:
            return SilencesPage(silences=silences.standing()[:limit])
        rows = silences.newest(limit or _NEWEST).rows
        return SilencesPage(silences=rows)

    @router.delete("/{silence_id}", summary="End a silence now")
    def end(
        silence_id: SilenceId, operator: Operator, desk: Served, person: EndedBy = ""
    ) -> SilenceRow:
        by = person.strip() or operator
        if by != operator:
            log.info("silence_ended_for", silence_id=silence_id, person=by, key=operator)
        try:
            return desk.silences.end(silence_id, by)
        except Refused as error:
            over = desk.silences.one(silence_id)
            if over is None or over.ended_by != by:
                raise Problem(404, "no_such_silence", str(error)) from None
            return over  # Whoever has ended it asks again where the answer was lost.

    return router


def previewed(body: SilenceBody, desk: Desk) -> PreviewPage:
    """Return what a silence would catch."""
    now = _now(desk)
    begins = max(now, body.starts_at or now)
    match = read_match(body.match, desk.routes.current().times)
    found = preview(match, desk.silences.sample())
    unsent = desk.unsent.newest()
    held = [row for row in unsent if match.fits(row.alert, begins)]
    return PreviewPage(
        alerts_looked_at=found.looked_at,
        alerts_caught=found.caught,
        alerts=[
            Caught(
                alert_id=each.alert_id,
                watch=each.watch,
                severity=each.severity,
                summary=each.summary,
            )
            for each in found.examples
        ],
        deliveries_looked_at=len(unsent),
        deliveries_held_back=len(held),
        deliveries=[
            OpenDelivery(
                delivery_id=row.delivery_id,
                alert_id=row.alert.alert_id,
                channel=row.channel,
                recipient=row.recipient,
                state=row.state,
            )
            for row in held[:20]
        ],
    )


def _is_same(made: SilenceRow, asked: NewSilence, body: SilenceBody) -> bool:
    """Tell whether a silence is the one that is asked for, maybe again: one that was to begin at
    once has begun a little earlier."""
    begins = body.starts_at is None or made.starts_at == asked.starts_at
    lasts = made.ends_at - made.starts_at == asked.ends_at - asked.starts_at
    ends = made.ends_at == asked.ends_at if body.ends_at else lasts
    own = (made.match, made.author, made.reason)
    return begins and ends and own == (asked.match, asked.author, asked.reason)


def _silence_id(operator: str, key: str | None) -> str:
    return digest("silence", operator, key) if key else uuid.uuid4().hex


def _now(desk: Desk) -> datetime:
    return datetime.fromtimestamp(desk.clock.now_ms() / 1000, UTC)
