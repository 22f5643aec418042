"""One delivery: what is known of it, what a person may say; and lists of those that wait."""

from typing import Annotated, Final
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.responses import Response

from services.backbone.errors import Refused
from services.backbone.ledger.answers.reading import BY_CHANNEL, LedgerReader
from services.backbone.ledger.operators.words import Word
from services.backbone.ledger.rows import DeliveryRow, Page
from services.backbone.web.problems import Problem
from services.console.api.deliveries import OfChannel, checked_states
from services.console.api.terms import DeliveryId, no_such_delivery, read_cursor
from services.console.deeds.deliveries import (
    ACTIONS,
    PERSON_LIMIT_CHARACTERS,
    WHY_LIMIT_CHARACTERS,
    possible,
    say,
)
from services.console.desk import Desk, Served
from services.console.people.door import Press, Reader, ResponderPress
from services.console.rendering import html
from services.contracts.states import State

SHOWN: Final = 50
ATTEMPT_LIMIT_DIGITS: Final = 9


def delivery_pages() -> APIRouter:
    """Return the routes of the pages."""
    router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

    @router.get("/todo")
    def waiting(
        request: Request,
        person: Reader,
        desk: Served,
        state: State | None = None,
        channel: OfChannel = None,
        cursor: Annotated[str | None, Query(max_length=64)] = None,
    ) -> HTMLResponse:
        states = checked_states([state] if state else [State.IN_DOUBT, State.HELD], channel)
        page = desk.reader.deliveries(states, SHOWN, read_cursor(cursor), channel or "")
        return html(
            request,
            "todo.html",
            title="To do",
            here="todo",
            page=page,
            failed=None if state or page.rows else _failed(desk.reader, channel),
            state=state,
            channel=channel,
            channels=_channels(desk.reader, channel) if BY_CHANNEL.issuperset(states) else [],
            states=State,
            address=_address,
        )

    @router.get("/deliveries/{delivery_id}")
    def one(
        request: Request, person: Reader, delivery_id: DeliveryId, desk: Served
    ) -> HTMLResponse:
        return _one(request, desk, delivery_id)

    @router.post("/deliveries/{delivery_id}")
    def decide(
        request: Request, delivery_id: DeliveryId, press: ResponderPress, desk: Served
    ) -> Response:
        try:
            new = _decided(desk, press, delivery_id)
        except Problem as problem:
            return _one(request, desk, delivery_id, press, problem)
        said = "done" if new else "done before"
        return RedirectResponse(f"/deliveries/{delivery_id}?said={said}", 303)

    return router


def _one(
    request: Request,
    desk: Desk,
    delivery_id: str,
    press: Press | None = None,
    problem: Problem | None = None,
) -> HTMLResponse:
    row = desk.reader.delivery(delivery_id)
    if row is None:
        raise no_such_delivery(delivery_id)
    answer = desk.answers.why(row.alert_id)
    told = [each for each in answer.recipients if each.delivery_id == delivery_id] if answer else []
    actions = {each: ACTIONS[each] for each in possible(row.state, row.attempt)}
    # What was said of another try is to be written anew: filled in, one click would say it of this.
    fills_in = bool(actions and press and _looked_at(press) == row.attempt)
    return html(
        request,
        "delivery.html",
        problem.status if problem else 200,
        press.key_again(problem) if press else "",
        title=f"{row.channel} to {row.recipient}",
        here="todo",
        row=row,
        told=told[0] if told else None,
        actions=actions,
        done=desk.audit.of(f"delivery {delivery_id}"),
        why=_why(press) if press else "",
        fills_in=fills_in,
        problem=problem,
    )


def _decided(desk: Desk, press: Press, delivery_id: str) -> bool:
    action, why = press.text("action", 20), _why(press)
    if action not in ACTIONS:
        raise Problem(422, "bad_word", f"say one of {', '.join(ACTIONS)}")
    if not why:
        raise Problem(422, "no_reason", "say how you know; it is kept with your name")
    name = press.person.name[:PERSON_LIMIT_CHARACTERS]
    word = Word(delivery_id, action, name, why, _looked_at(press))
    try:
        return say(desk.pool, press.person, word, press.text("key", 256) or None)
    except Refused as error:
        raise Problem(409, "not_waiting", f"{error}; somebody was quicker") from None


def _failed(reader: LedgerReader, channel: str | None) -> Page[DeliveryRow]:
    """Return the newest dead letters, which wait for a person too if nobody else was told."""
    return reader.deliveries([State.FAILED], SHOWN, channel=channel or "")


def _channels(reader: LedgerReader, chosen: str | None) -> list[str]:
    """Return the channels to choose from, and the chosen one, whoever knows it."""
    return sorted({*reader.channels(), *([chosen] if chosen else [])})


def _address(
    state: State | None = None, channel: str | None = None, cursor: str | None = None
) -> str:
    """Return where a list stands; of one channel where its states can be looked for so."""
    of_channel = channel if state is None or state in BY_CHANNEL else None
    given = {"state": state, "channel": of_channel, "cursor": cursor}
    query = urlencode({name: value for name, value in given.items() if value})
    return f"/todo?{query}" if query else "/todo"


def _why(press: Press) -> str:
    return press.text("why", WHY_LIMIT_CHARACTERS)


def _looked_at(press: Press) -> int | None:
    """Return the try that the form was made for; None where it does not say."""
    said = press.text("attempt", ATTEMPT_LIMIT_DIGITS)
    return int(said) if said.isascii() and said.isdecimal() else None
