"""The first page: how everything stands, kept up to date by server-sent events."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, StreamingResponse

from services.backbone.web.problems import Problem, away
from services.console.desk import Desk, Served
from services.console.live import ALIVE, FOLLOWERS_LIMIT, event_text
from services.console.now import COLUMNS, POINTS_LIMIT, Now, channel_lines
from services.console.people.door import AtDoor, Onlooker, Reader
from services.console.rendering import html, render

AGAIN_SECONDS: Final = 5.0
"""Between two looks whether the session of an open page still stands."""


def now_routes() -> APIRouter:
    """Return the routes of the page and of its live part."""
    router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

    @router.get("/")
    def page(request: Request, person: Reader, desk: Served) -> HTMLResponse:
        return html(request, "now.html", title="Now", here="now", **_terms(_now(desk)))

    @router.get("/live")
    def live(request: Request, person: Onlooker, desk: Served, door: AtDoor) -> StreamingResponse:
        if desk.board.followers >= FOLLOWERS_LIMIT:
            raise Problem(503, "too_many_followers", "too many pages are open; load this one again")
        may_look = partial(asyncio.to_thread, door.may_look, request)
        return StreamingResponse(_events(desk, may_look), media_type="text/event-stream")

    return router


def _now(desk: Desk) -> Now:
    now = desk.board.now
    if now is None:
        raise away("starting", "the console has just started and looks around; load again")
    return now


async def _events(desk: Desk, may_look: Callable[[], Awaitable[bool]]) -> AsyncIterator[bytes]:
    asked = desk.clock.monotonic_seconds()
    async for now in desk.board.follow(desk.life.stop.is_set):
        if desk.clock.monotonic_seconds() - asked > AGAIN_SECONDS:
            if not await may_look():
                return
            asked = desk.clock.monotonic_seconds()
        yield ALIVE if now is None else event_text(render("now_part.html", **_terms(now)))


def _terms(now: Now) -> dict[str, Any]:
    return {"now": now, "lines": channel_lines(now), "columns": COLUMNS, "slots": POINTS_LIMIT}
