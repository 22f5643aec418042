"""How everything stands, and what people have done, as JSON."""

from typing import Annotated

from fastapi import APIRouter, Query

from services.backbone.ledger.overview import Overview
from services.backbone.web.problems import away
from services.console.desk import Served
from services.console.people.audit import AuditRow
from services.console.people.door import Admin, Reader


def standing_api() -> APIRouter:
    """Return the routes."""
    router = APIRouter(prefix="/v1", tags=["standing"])

    @router.get("/overview", summary="How the ledger stands now")
    def overview(person: Reader, desk: Served) -> Overview:
        now = desk.board.now
        if now is None or now.overview is None:
            raise away("away", "the ledger does not answer; the same request may work in a moment")
        return now.overview

    @router.get("/audit", summary="What people have done, newest first; for admins")
    def audit(
        person: Admin,
        desk: Served,
        limit: Annotated[int, Query(ge=1, le=200)] = 50,
        before: Annotated[int | None, Query(ge=1, le=2**62)] = None,
    ) -> list[AuditRow]:
        return desk.audit.newest(limit, before)

    return router
