"""The page of what no watch judged."""

from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from services.console.api.unjudged import UNJUDGED_SHOWN, Contains
from services.console.desk import Desk, Served
from services.console.newest_first import Wanted
from services.console.people.door import Reader
from services.console.rendering import html

ARCHIVIST: Final = "archivist"
"""The program that lists it, as `make run` and the chart name it to the console."""


def unjudged_pages() -> APIRouter:
    """Return the route of the page."""
    router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

    @router.get("/unjudged")
    def newest(
        request: Request, person: Reader, desk: Served, contains: Contains = ""
    ) -> HTMLResponse:
        return html(
            request,
            "unjudged.html",
            title="What no watch judged",
            here="watches",
            page=desk.unjudged.newest(Wanted(UNJUDGED_SHOWN, contains)),
            contains=contains,
            is_archivist_known=ARCHIVIST in desk.parts,
            trouble=_trouble(desk),
        )

    return router


def _trouble(desk: Desk) -> str:
    """Return why the archivist was not ready when it was last looked at; empty where it was."""
    now = desk.board.now
    own = [each for each in (now.looks if now else ()) if each.target.part == ARCHIVIST]
    return "; ".join(f"{name}: {text}" for each in own for name, text in each.trouble.items())
