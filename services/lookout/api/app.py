"""The web application: the operators' API beside health and metrics."""

from functools import cache, partial
from typing import Final

from fastapi import FastAPI

from services.backbone.health import Health, health_routes
from services.backbone.web.answers import add_problems
from services.backbone.web.bodies import BoundedBodies
from services.backbone.web.description import described, description
from services.backbone.web.paths import exact
from services.lookout.api.alerts import alert_routes
from services.lookout.api.desk import Office
from services.lookout.api.operators import Operators
from services.lookout.api.routes import routes_routes
from services.lookout.api.silences import silence_routes
from services.lookout.api.trials import trial_routes

BODY_LIMIT_BYTES: Final = 1024 * 1024
"""An alert to explain has at most 900 KiB."""
BODY_TIMEOUT_SECONDS: Final = 10.0

_ANSWERS: Final = {
    401: "no key of an operator",
    403: "there are no operators' keys; says how to make one",
    408: "the body did not come in time",
    413: "the body is too large",
    422: "not possible; says what to change",
    500: "a mistake of ours, which our log names",
    503: "a store is away, or too much comes at once: again after Retry-After",
}


def create_app(office: Office, operators: Operators, health: Health) -> FastAPI:
    """Build the application; what waits for the ledger runs on threads."""
    app = FastAPI(
        title="Aldebaran lookout",
        version="1",
        description="Silence, acknowledge, ask why, look at routes, send a test. Send an "
        "operator's key as `Authorization: Bearer <key>`.",
        responses=described(_ANSWERS),
        docs_url=None,
        redoc_url=None,
    )
    app.state.office = office
    app.state.operators = operators
    for router in (silence_routes(), alert_routes(), routes_routes(), trial_routes()):
        app.include_router(router)
    app.router.routes.extend(health_routes(health))
    app.add_middleware(
        BoundedBodies,
        limit_bytes=BODY_LIMIT_BYTES,
        timeout_seconds=BODY_TIMEOUT_SECONDS,
        known=operators.asking,
    )
    add_problems(app)
    app.openapi = cache(partial(description, app))  # type: ignore[method-assign]  # FastAPI's way
    return exact(app)
