"""How everything stands, and what people have done, as JSON."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel

from services.backbone.ledger.answers.overview import Overview
from services.backbone.web.problems import away
from services.console.desk import Served
from services.console.lagging import Lags
from services.console.parts.figures import Figures
from services.console.people.audit import AuditRow
from services.console.people.door import Admin, Reader


class Part(BaseModel):
    """One process of a program; ready, where nothing troubles it."""

    part: str
    trouble: dict[str, str]
    notes: dict[str, str]


class Present(BaseModel):
    """How everything runs; a figure is null where no program tells it."""

    at_ms: int
    figures: Figures | None
    parts: list[Part]
    lags: Lags


def standing_api() -> APIRouter:
    """Return the routes."""
    router = APIRouter(prefix="/v1", tags=["standing"])

    @router.get("/overview", summary="How the ledger stands now")
    def overview(person: Reader, desk: Served) -> Overview:
        now = desk.board.now
        if now is None or now.overview is None:
            raise away("away", "the ledger does not answer; the same request may work in a moment")
        return now.overview

    @router.get("/now", summary="How everything runs: rates, latencies, programs, what waits")
    def now(person: Reader, desk: Served) -> Present:
        found = desk.board.now
        if found is None:
            raise away("starting", "the console has just started; ask again in a moment")
        parts = [
            Part(part=each.target.part, trouble=dict(each.trouble), notes=dict(each.notes))
            for each in found.looks
        ]
        return Present(at_ms=found.at_ms, figures=found.figures, parts=parts, lags=found.lags)

    @router.get("/audit", summary="What people have done, newest first; for admins")
    def audit(
        person: Admin,
        desk: Served,
        limit: Annotated[int, Query(ge=1, le=200)] = 50,
        before: Annotated[int | None, Query(ge=1, le=2**62)] = None,
    ) -> list[AuditRow]:
        return desk.audit.newest(limit, before)

    return router
