"""The page of what was refused of a stream."""

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from services.console.api.refused import REFUSED_SHOWN, Contains, StreamName
from services.console.desk import Served
from services.console.newest_first import Wanted
from services.console.people.door import Reader
from services.console.rendering import html


def refused_pages() -> APIRouter:
    """Return the route of the page."""
    router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

    @router.get("/streams/{stream}/rejected")
    def newest(
        request: Request, person: Reader, desk: Served, stream: StreamName, contains: Contains = ""
    ) -> HTMLResponse:
        return html(
            request,
            "refused.html",
            title=f"Refused of {stream}",
            here="watches",
            page=desk.aside.newest(stream, Wanted(REFUSED_SHOWN, contains)),
            contains=contains,
        )

    return router
