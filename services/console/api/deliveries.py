"""Deliveries as JSON: the list by state, one, and a person's word on one that waits."""

from collections.abc import Collection
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from services.backbone.errors import Refused
from services.backbone.ledger.answers.reading import BY_CHANNEL
from services.backbone.ledger.operators.words import Word
from services.backbone.ledger.rows import DeliveryRow, Page
from services.backbone.web.problems import Problem
from services.console.api.terms import (
    DEFAULT_LIMIT,
    Body,
    Cursor,
    DeliveryId,
    Key,
    Limit,
    PlainText,
    no_such_delivery,
    read_cursor,
)
from services.console.deeds.deliveries import PERSON_LIMIT_CHARACTERS, WHY_LIMIT_CHARACTERS, say
from services.console.desk import Served
from services.console.people.door import Reader, Responder
from services.contracts.records import Name
from services.contracts.states import State

States = Annotated[
    list[State] | None, Query(max_length=len(State), description="may be given several times")
]
OfChannel = Annotated[
    Name | None,
    Query(description="only this one's; name the states too: FAILED, or such as are not over"),
]


class WordBody(Body):
    """What a person says of a delivery that waits, and how they know."""

    action: Annotated[Literal["arrived", "absent", "resend", "close"], Field(examples=["arrived"])]
    why: Annotated[
        str,
        PlainText,
        Field(min_length=1, max_length=WHY_LIMIT_CHARACTERS, examples=["ann has it on her phone"]),
    ]
    attempt: Annotated[
        int | None,
        Field(
            ge=0,
            description="the try that you have looked at; refused if there was another since",
            examples=[1],
        ),
    ] = None


class Said(BaseModel):
    """What became of a person's word; `new` is false where the same press was done before."""

    delivery_id: str
    action: str
    new: bool


def delivery_api() -> APIRouter:
    """Return the routes; they run on threads, since the ledger's client waits."""
    router = APIRouter(prefix="/v1/deliveries", tags=["deliveries"])

    @router.get("", summary="List deliveries, newest first, by state")
    def newest(
        person: Reader,
        desk: Served,
        state: States = None,
        channel: OfChannel = None,
        limit: Limit = DEFAULT_LIMIT,
        cursor: Cursor = None,
    ) -> Page[DeliveryRow]:
        states = checked_states(state or [], channel)
        return desk.reader.deliveries(states, limit, read_cursor(cursor), channel or "")

    @router.get("/{delivery_id}", summary="Show one delivery")
    def one(person: Reader, desk: Served, delivery_id: DeliveryId) -> DeliveryRow:
        found = desk.reader.delivery(delivery_id)
        if found is None:
            raise no_such_delivery(delivery_id)
        return found

    @router.post("/{delivery_id}/word", summary="Say what became of a delivery that waits")
    def word(
        delivery_id: DeliveryId, body: WordBody, person: Responder, desk: Served, key: Key = None
    ) -> Said:
        if desk.reader.delivery(delivery_id) is None:
            raise no_such_delivery(delivery_id)
        name = person.name[:PERSON_LIMIT_CHARACTERS]
        given = Word(delivery_id, body.action, name, body.why, body.attempt)
        try:
            new = say(desk.pool, person, given, key)
        except Refused as error:
            raise Problem(409, "not_waiting", str(error)) from None
        return Said(delivery_id=delivery_id, action=body.action, new=new)

    return router


def checked_states(states: Collection[State], channel: str | None) -> Collection[State]:
    """Return the states that are asked for.

    Raises:
        Problem: 422, one channel's deliveries in these states cannot be looked for.
    """
    if channel and not set(states or State) <= BY_CHANNEL:
        said = f"by channel only these are looked for: {', '.join(sorted(BY_CHANNEL))}; name some"
        raise Problem(422, "bad_question", f"state: {said}")
    return states
