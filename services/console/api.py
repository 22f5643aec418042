"""The JSON API under /v1: alerts and deliveries, newest first, page by page."""

from typing import Annotated, Final

from fastapi import APIRouter, Path, Query

from services.backbone.ledger.places import NEWEST, Place
from services.backbone.ledger.reading import PAGE_LIMIT, LedgerReader
from services.backbone.ledger.rows import AlertDetail, AlertRow, DeliveryRow, Page
from services.console.problems import Problem, no_such_alert
from services.contracts.states import State

Limit = Annotated[int, Query(ge=1, le=PAGE_LIMIT, description="rows per page")]
Cursor = Annotated[
    str | None, Query(max_length=64, description="next_cursor of the page before this one")
]
AlertId = Annotated[str, Path(pattern=r"^[0-9a-f]{32}$")]
States = Annotated[
    list[State] | None, Query(max_length=len(State), description="may be given several times")
]

DEFAULT_LIMIT: Final = 50


def api_routes(reader: LedgerReader) -> APIRouter:
    """Return the routes; they run on threads, since the ledger's client waits."""
    router = APIRouter(prefix="/v1")

    @router.get("/alerts", summary="List alerts, newest first")
    def alerts(limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> Page[AlertRow]:
        return reader.alerts(limit, read_cursor(cursor))

    @router.get("/alerts/{alert_id}", summary="Show one alert with its deliveries and attempts")
    def alert(alert_id: AlertId) -> AlertDetail:
        found = reader.alert(alert_id)
        if found is None:
            raise no_such_alert(alert_id)
        return found

    @router.get("/deliveries", summary="List deliveries, newest first, by state")
    def deliveries(
        state: States = None, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None
    ) -> Page[DeliveryRow]:
        return reader.deliveries(state or [], limit, read_cursor(cursor))

    return router


def read_cursor(text: str | None) -> Place:
    """Return the place to go on from.

    Raises:
        Problem: it is no cursor of ours.
    """
    try:
        return Place.parse(text) if text else NEWEST
    except ValueError as error:
        raise Problem(422, "bad_cursor", str(error)) from None
