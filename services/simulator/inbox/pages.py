"""The inbox's own pages beside health and metrics: what came, and the dials."""

from typing import Any, Final

import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from services.backbone.health import Health, health_app
from services.simulator.inbox.dials import turned
from services.simulator.inbox.faults import Dials
from services.simulator.inbox.switchboard import Switchboard

BODY_LIMIT_BYTES: Final = 64 * 1024


def inbox_app(health: Health, switchboard: Switchboard) -> Starlette:
    """Return the application: health, metrics, GET /received, GET and POST /dials."""

    async def received(_: Request) -> Response:
        if not switchboard.received.is_open:
            problem = {"title": "not ready", "status": 503, "detail": "what came before is counted"}
            return JSONResponse(problem, 503, media_type="application/problem+json")
        counts = switchboard.received.counts()
        return JSONResponse({way: each.model_dump() for way, each in counts.items()})

    async def show(_: Request) -> Response:
        return JSONResponse(_shown(switchboard.dials))

    async def turn(request: Request) -> Response:
        body = await request.body()
        try:
            dials = turned(switchboard.dials, orjson.loads(body[:BODY_LIMIT_BYTES]))
        except ValueError as error:
            problem = {"title": "bad dials", "status": 422, "detail": str(error)}
            return JSONResponse(problem, 422, media_type="application/problem+json")
        switchboard.turn(dials)
        return JSONResponse(_shown(dials))

    return health_app(
        health,
        Route("/received", received),
        Route("/dials", show, methods=["GET"]),
        Route("/dials", turn, methods=["POST"]),
    )


def _shown(dials: Dials) -> dict[str, Any]:
    return {way: each.model_dump(mode="json") for way, each in dials.items()}
