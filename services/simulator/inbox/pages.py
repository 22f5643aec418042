"""The inbox's own pages beside health and metrics: what came, and the dials."""

from typing import Any, Final

import orjson
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from services.backbone.health import Health, health_routes
from services.contracts.records import describe
from services.simulator.inbox.faults import InboxDials
from services.simulator.inbox.switchboard import Switchboard

BODY_LIMIT_BYTES: Final = 64 * 1024


def inbox_app(health: Health, switchboard: Switchboard) -> Starlette:
    """Return the application: health, metrics, GET /received, GET and POST /dials."""

    async def received(_: Request) -> Response:
        counts = switchboard.received.counts()
        return JSONResponse({way: each.model_dump() for way, each in counts.items()})

    async def show(_: Request) -> Response:
        return JSONResponse(switchboard.dials.model_dump())

    async def turn(request: Request) -> Response:
        body = await request.body()
        try:
            dials = turned(switchboard.dials, body[:BODY_LIMIT_BYTES])
        except ValueError as error:
            problem = {"title": "bad dials", "status": 422, "detail": str(error)}
            return JSONResponse(problem, 422, media_type="application/problem+json")
        switchboard.turn(dials)
        return JSONResponse(dials.model_dump())

    own = [
        Route("/received", received),
        Route("/dials", show, methods=["GET"]),
        Route("/dials", turn, methods=["POST"]),
    ]
    return Starlette(routes=[*health_routes(health), *own])


def turned(dials: InboxDials, body: bytes) -> InboxDials:
    """Return dials with those turned that the body names.

    Raises:
        ValueError: it is not a JSON object, names an unknown dial, or a value out of range.
    """
    wanted = orjson.loads(body)
    if not isinstance(wanted, dict):
        raise ValueError("dials come as a JSON object")
    try:
        return InboxDials.model_validate(_laid_over(dials.model_dump(), wanted))
    except ValidationError as error:
        raise ValueError(describe(error)) from None


def _laid_over(below: dict[str, dict[str, Any]], above: dict[str, Any]) -> dict[str, Any]:
    turned_ones = {
        name: {**below.get(name, {}), **value} if isinstance(value, dict) else value
        for name, value in above.items()
    }
    return below | turned_ones
