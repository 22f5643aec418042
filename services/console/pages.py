"""The pages for people: rendered here, without scripts and without anything from elsewhere."""

from pathlib import Path
from typing import Annotated, Any, Final

import orjson
from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from services.backbone.ledger.reading import LedgerReader
from services.console import shown
from services.console.api import read_cursor
from services.console.problems import Problem, no_such_alert
from services.console.timeline import timeline

ALERTS_SHOWN: Final = 50
OPEN_SHOWN: Final = 50
EVENT_IDS_SHOWN: Final = 200

_HERE: Final = Path(__file__).parent
_STYLE: Final = (_HERE / "style.css").read_bytes()


def _templates() -> Environment:
    made = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["utc"] = shown.utc
    made.filters["span"] = shown.span
    made.filters["readable"] = lambda value: (
        value if isinstance(value, str) else orjson.dumps(value).decode()
    )
    return made


_TEMPLATES: Final = _templates()


def render(name: str, **terms: Any) -> str:
    """Return a page; every text in it is escaped."""
    return _TEMPLATES.get_template(name).render(**terms)


def page_routes(reader: LedgerReader, refresh_seconds: int) -> APIRouter:
    """Return the routes of the pages."""
    router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

    @router.get("/")
    def newest(cursor: Annotated[str | None, Query(max_length=64)] = None) -> HTMLResponse:
        page = reader.alerts(ALERTS_SHOWN, read_cursor(cursor))
        waiting = [] if cursor else reader.oldest_open(OPEN_SHOWN)
        counts = {} if cursor else reader.open_counts()
        # An older page stands still, so that nothing moves under the reader's finger.
        refresh = None if cursor else refresh_seconds
        text = render("alerts.html", page=page, waiting=waiting, counts=counts, refresh=refresh)
        return HTMLResponse(text)

    @router.get("/alerts/{alert_id}")
    def one(alert_id: str) -> HTMLResponse:
        detail = reader.alert(alert_id)
        if detail is None:
            raise no_such_alert(alert_id)
        ids = detail.record.get("event_ids", [])
        text = render(
            "alert.html",
            detail=detail,
            moments=timeline(detail),
            event_ids=ids[:EVENT_IDS_SHOWN],
            more_ids=max(0, len(ids) - EVENT_IDS_SHOWN),
            refresh=None,
        )
        return HTMLResponse(text)

    @router.get("/style.css")
    def style() -> Response:
        return Response(_STYLE, media_type="text/css")

    return router


def problem_page(problem: Problem, refresh_seconds: int) -> HTMLResponse:
    """Return a problem as a page; one that may pass by itself asks again."""
    refresh = refresh_seconds if problem.status == 503 else None
    text = render("problem.html", problem=problem, refresh=refresh)
    return HTMLResponse(text, problem.status, problem.headers())
