"""The channels: how each stands, and stopping one for a while."""

from typing import Annotated, Final

from fastapi import APIRouter, Path, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.responses import Response

from services.backbone.errors import Refused
from services.backbone.ledger.deliveries.pauses import pauses
from services.backbone.web.problems import Problem, away
from services.console.deeds.channels import pause, resume
from services.console.desk import Served
from services.console.now import COLUMNS, channel_lines
from services.console.people.door import AdminPress, Reader
from services.console.rendering import html
from services.contracts.records import Name

WHY_LIMIT_CHARACTERS: Final = 400


def channel_pages() -> APIRouter:
    """Return the routes of the page."""
    router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

    @router.get("/channels")
    def page(request: Request, person: Reader, desk: Served) -> HTMLResponse:
        now = desk.board.now
        if now is None:
            raise away("starting", "the console has just started and looks around; load again")
        stopped = {each.channel: each for each in pauses(desk.pool)}
        return html(
            request,
            "channels.html",
            title="Channels",
            here="channels",
            lines=channel_lines(now, {*stopped, *desk.reader.channels()}),
            columns=COLUMNS,
            stopped=stopped,
        )

    @router.post("/channels/{channel}")
    def press(channel: Annotated[Name, Path()], press: AdminPress, desk: Served) -> Response:
        key, why = press.text("key", 256) or None, press.text("why", WHY_LIMIT_CHARACTERS)
        try:
            if press.fields.get("what") == "resume":
                resume(desk.pool, press.person, channel, key)
                return RedirectResponse("/channels?said=it+goes+on", 303)
            if not why:
                raise Problem(422, "no_reason", "say why; it is shown to everybody")
            pause(desk.pool, press.person, channel, why, key)
        except Refused as error:
            raise Problem(409, "done_already", str(error)) from None
        return RedirectResponse("/channels?said=stopped", 303)

    return router
