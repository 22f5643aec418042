"""The watches: what they look for, how they run, and their last alerts."""

from typing import Annotated, Final

from fastapi import APIRouter, Path, Request
from fastapi.responses import HTMLResponse

from services.backbone.ledger.answers.searching import Search
from services.backbone.ledger.page_start import NEWEST
from services.console.api.watches import known_watch
from services.console.desk import Served
from services.console.people.door import Reader
from services.console.rendering import html

ALERTS_SHOWN: Final = 10


def watch_pages() -> APIRouter:
    """Return the routes of the pages."""
    router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

    @router.get("/watches")
    def all_of_them(request: Request, person: Reader, desk: Served) -> HTMLResponse:
        shelf = desk.shelf.all()
        return html(
            request,
            "watches.html",
            title="Watches",
            here="watches",
            shelf=shelf,
            figures=desk.watch_figures(),
        )

    @router.get("/watches/{name}")
    def one(
        request: Request, person: Reader, desk: Served, name: Annotated[str, Path(max_length=63)]
    ) -> HTMLResponse:
        declared = known_watch(desk.shelf, name)
        return html(
            request,
            "watch.html",
            title=name,
            here="watches",
            watch=declared,
            figures=desk.watch_figures().get(name),
            page=desk.reader.alerts(ALERTS_SHOWN, NEWEST, Search(watch=name)),
        )

    return router
