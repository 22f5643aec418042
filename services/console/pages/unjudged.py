"""The page of what no watch judged."""

from collections.abc import Iterable, Mapping
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from services.console.api.unjudged import UNJUDGED_SHOWN, Contains
from services.console.desk import Desk, Served
from services.console.newest_first import Wanted
from services.console.parts.looking import Look
from services.console.parts.samples import named
from services.console.people.door import Reader
from services.console.rendering import html

ARCHIVIST: Final = "archivist"
"""The program that lists it, as `make run` and the chart name it to the console."""
_JUDGED: Final = "aldebaran_archivist_judged_until_timestamp_seconds"


def unjudged_pages() -> APIRouter:
    """Return the route of the page."""
    router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

    @router.get("/unjudged")
    def newest(
        request: Request, person: Reader, desk: Served, contains: Contains = ""
    ) -> HTMLResponse:
        looks, page = _looks(desk), desk.unjudged.newest(Wanted(UNJUDGED_SHOWN, contains))
        return html(
            request,
            "unjudged.html",
            title="What no watch judged",
            here="watches",
            page=page,
            newest_places={each.accounted_id: each.place for each in reversed(page.rows)},
            contains=contains,
            is_archivist_known=ARCHIVIST in desk.parts,
            is_ready=any(each.ready for each in looks),
            judged=_judged_until_ms(looks),
            trouble=_trouble(looks),
        )

    return router


def _looks(desk: Desk) -> list[Look]:
    """Return the newest look at each archivist; none before the first."""
    now = desk.board.now
    return [each for each in (now.looks if now else ()) if each.target.part == ARCHIVIST]


def _trouble(looks: Iterable[Look]) -> str:
    """Return why an archivist was not ready; empty where each was."""
    return "; ".join(f"{name}: {text}" for each in looks for name, text in each.trouble.items())


def _judged_until_ms(looks: Iterable[Look]) -> Mapping[str, int]:
    """Return by account up to when it has judged, of those that did since their archivist began."""
    told = [(labels["account"], at) for each in looks for labels, at in named(each.found, _JUDGED)]
    return {account: round(at * 1000) for account, at in sorted(told)}
