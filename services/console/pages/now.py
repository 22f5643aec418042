"""The first page: how everything stands, kept up to date by server-sent events."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, StreamingResponse
from starlette.types import Receive, Scope, Send

from services.backbone.web.problems import Problem, away
from services.console.desk import Desk, Served
from services.console.live import ALIVE, Board, Drawn, Place, TooManyFollowers
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

    drawn = Drawn(lambda now: render("now_part.html", **_terms(now)))

    @router.get("/live")
    async def live(
        request: Request, person: Onlooker, desk: Served, door: AtDoor
    ) -> StreamingResponse:
        may_look = partial(asyncio.to_thread, door.may_look, request)
        try:
            place = desk.board.take_place()
        except TooManyFollowers:
            why = "too many pages are open; load this one again"
            raise Problem(503, "too_many_followers", why) from None
        return Following(desk.board, place, events(desk, place, drawn, may_look))

    return router


class Following(StreamingResponse):
    """An answer that lasts; its place is given free however it ends, also before it began."""

    def __init__(self, board: Board, place: Place, events: AsyncIterator[bytes]) -> None:
        super().__init__(events, media_type="text/event-stream")
        self._board, self._place = board, place

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer until either side ends it."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._board.leave(self._place)


def _now(desk: Desk) -> Now:
    now = desk.board.now
    if now is None:
        raise away("starting", "the console has just started and looks around; load again")
    return now


async def events(
    desk: Desk, place: Place, drawn: Drawn, may_look: Callable[[], Awaitable[bool]]
) -> AsyncIterator[bytes]:
    """Yield what a follower is sent, until their session is over or the program stops."""
    asked = desk.clock.monotonic_seconds()
    async for now in desk.board.follow(place, desk.life.stop.is_set):
        if _is_ledger_there(desk) and desk.clock.monotonic_seconds() - asked > AGAIN_SECONDS:
            if not await may_look():
                return
            asked = desk.clock.monotonic_seconds()
        yield ALIVE if now is None else drawn.event(now)


def _is_ledger_there(desk: Desk) -> bool:
    """Tell whether the newest look found the ledger: asking it else holds a thread for seconds."""
    now = desk.board.now
    return now is not None and now.overview is not None


def _terms(now: Now) -> dict[str, Any]:
    return {"now": now, "lines": channel_lines(now), "columns": COLUMNS, "slots": POINTS_LIMIT}
