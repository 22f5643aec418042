"""Silences: those that stand, a new one with a preview of what it would hide, and its end."""

from collections.abc import Sequence
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.responses import Response

from services.backbone.ledger.operators.silences import SilenceRow, Silences
from services.backbone.web.problems import Problem
from services.console.api.terms import AlertId, known_alert
from services.console.deeds.silences import Quiet, match_of, written
from services.console.desk import Served
from services.console.people.door import Press, Reader, ResponderPress
from services.console.rendering import html
from services.contracts.lookout import PreviewPage

SHOWN: Final = 50
FIELDS: Final = ("watch", "severity", "labels", "lasts", "reason")
LEFT_OUT: Final = "left_out:"
"""What the names of fields begin with that carry the labels that no line can say."""


def silence_pages() -> APIRouter:
    """Return the routes of the pages."""
    router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

    @router.get("/silences")
    def page(request: Request, person: Reader, desk: Served) -> HTMLResponse:
        return _page(request, desk, {"lasts": "1h"})

    @router.get("/alerts/{alert_id}/silence")
    def of_alert(request: Request, person: Reader, alert_id: AlertId, desk: Served) -> HTMLResponse:
        found = known_alert(desk.reader, alert_id)
        labels = written(found.record.get("labels", {}) or {})
        fields = {"watch": found.alert.watch, "labels": labels.lines, "lasts": "1h"}
        return _page(request, desk, fields, left_out=labels.left_out)

    @router.post("/silences")
    def press(request: Request, press: ResponderPress, desk: Served) -> Response:
        fields = {name: press.fields.get(name, "") for name in FIELDS}
        left_out = [each for name, each in press.fields.items() if name.startswith(LEFT_OUT)]
        preview, problem = None, None
        try:
            quiet = _quiet(press)
            if press.fields.get("what") == "silence":
                made = desk.deeds.silence(press.person, quiet, press.text("key", 256) or None)
                _check_stands(made, desk.clock.now_ms())
                return RedirectResponse("/silences?said=silenced", 303)
            preview = desk.deeds.preview(press.person, quiet)
        except Problem as error:
            problem = error
        return _page(request, desk, fields, preview, problem, left_out, press.key_again(problem))

    @router.post("/silences/{silence_id}/end")
    def end(silence_id: AlertId, press: ResponderPress, desk: Served) -> Response:
        desk.deeds.end(press.person, silence_id)
        return RedirectResponse("/silences?said=ended", 303)

    return router


def _shown(made: Silences) -> list[SilenceRow]:
    """Return all that stand, however old, then the newest that are over."""
    standing = made.standing()
    known = {each.silence_id for each in standing}
    over = (each for each in made.newest(SHOWN).rows if each.silence_id not in known)
    return [*standing, *over]


def _quiet(press: Press) -> Quiet:
    return Quiet(
        match=match_of(dict(press.fields)),
        lasts=press.text("lasts", 64) or "1h",
        reason=press.text("reason"),
    )


def _check_stands(made: SilenceRow, now_ms: int) -> None:
    """A press that comes again late is answered with what the first one made, which may be over.

    Raises:
        Problem: 409, it is.
    """
    ends_ms = made.ends_at.timestamp() * 1000
    if made.ended_at is not None or ends_ms <= now_ms:
        said = f"this press has made silence {made.silence_id} before, and that is over"
        raise Problem(409, "silence_over", f"{said}: press again for another one")


def _page(
    request: Request,
    desk: Served,
    fields: dict[str, str],
    preview: PreviewPage | None = None,
    problem: Problem | None = None,
    left_out: Sequence[str] = (),
    press_key: str = "",
) -> HTMLResponse:
    filled = dict.fromkeys(FIELDS, "") | fields
    return html(
        request,
        "silences.html",
        problem.status if problem else 200,
        press_key,
        title="Silences",
        here="silences",
        silences=_shown(Silences(desk.pool)),
        now_ms=desk.clock.now_ms(),
        fields=filled,
        preview=preview,
        left_out=left_out,
        left_out_field=LEFT_OUT,
        problem=problem,
    )
