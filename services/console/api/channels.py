"""Channels as JSON: which are stopped, stop one, let it go on."""

from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field

from services.backbone.errors import Refused
from services.backbone.ledger.deliveries.pauses import Pause, pauses
from services.backbone.web.problems import Problem
from services.console.api.terms import Body, Key, PlainText
from services.console.deeds.channels import pause, resume
from services.console.desk import Served
from services.console.people.door import Administrator, Reader
from services.contracts.records import Name

ChannelName = Annotated[Name, Path(description="for example email")]


class PauseBody(Body):
    """Why a channel is stopped."""

    why: Annotated[
        str,
        PlainText,
        Field(min_length=1, max_length=400, examples=["the provider asked us to wait"]),
    ]


class Stopped(BaseModel):
    """Whether a channel is stopped now; `new` is false where the press was done before."""

    channel: str
    stopped: bool
    new: bool


def channel_api() -> APIRouter:
    """Return the routes; they run on threads, since the ledger's client waits."""
    router = APIRouter(prefix="/v1/channels", tags=["channels"])

    @router.get("/paused", summary="The channels that are stopped")
    def stopped(person: Reader, desk: Served) -> list[Pause]:
        return pauses(desk.pool)

    @router.post("/{channel}/pause", summary="Stop a channel: nothing of it is sent; for admins")
    def stop(
        channel: ChannelName,
        body: PauseBody,
        person: Administrator,
        desk: Served,
        key: Key = None,
    ) -> Stopped:
        try:
            new = pause(desk.pool, person, channel, body.why, key)
        except Refused as error:
            raise Problem(409, "stopped_already", str(error)) from None
        return Stopped(channel=channel, stopped=True, new=new)

    @router.delete("/{channel}/pause", summary="Let a channel go on; for admins")
    def go_on(
        channel: ChannelName, person: Administrator, desk: Served, key: Key = None
    ) -> Stopped:
        try:
            new = resume(desk.pool, person, channel, key)
        except Refused as error:
            raise Problem(409, "not_stopped", str(error)) from None
        return Stopped(channel=channel, stopped=False, new=new)

    return router
