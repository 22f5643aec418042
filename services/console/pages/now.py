"""The first page: how everything stands, kept up to date by server-sent events."""

from collections.abc import AsyncIterator
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, StreamingResponse

from services.backbone.web.problems import Problem, away
from services.console.desk import Desk, Served
from services.console.live import ALIVE, FOLLOWERS_LIMIT, event_text
from services.console.now import COLUMNS, POINTS_LIMIT, Now, channel_lines
from services.console.people.door import Reader
from services.console.rendering import html, render


def now_routes() -> APIRouter:
    """Return the routes of the page and of its live part."""
    router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

    @router.get("/")
    def page(request: Request, person: Reader, desk: Served) -> HTMLResponse:
        return html(request, "now.html", title="Now", here="now", **_terms(_now(desk)))

    @router.get("/live")
    def live(person: Reader, desk: Served) -> StreamingResponse:
        if desk.board.followers >= FOLLOWERS_LIMIT:
            raise Problem(503, "too_many_followers", "too many pages are open; load this one again")
        return StreamingResponse(_events(desk), media_type="text/event-stream")

    return router


def _now(desk: Desk) -> Now:
    now = desk.board.now
    if now is None:
        raise away("starting", "the console has just started and looks around; load again")
    return now


async def _events(desk: Desk) -> AsyncIterator[bytes]:
    async for now in desk.board.follow(desk.life.stop.is_set):
        yield ALIVE if now is None else event_text(render("now_part.html", **_terms(now)))


def _terms(now: Now) -> dict[str, Any]:
    return {"now": now, "lines": channel_lines(now), "columns": COLUMNS, "slots": POINTS_LIMIT}
