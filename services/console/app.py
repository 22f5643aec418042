"""The web application: pages, API, health; each is a file of its own."""

from collections.abc import Collection
from functools import cache, partial
from typing import Final

from fastapi import FastAPI
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from services.backbone.health import health_routes
from services.backbone.web.answers import add_problems, as_json
from services.backbone.web.bodies import BoundedBodies
from services.backbone.web.description import described
from services.backbone.web.paths import exact
from services.backbone.web.problems import Problem
from services.console.api.alerts import alert_api
from services.console.api.channels import channel_api
from services.console.api.deliveries import delivery_api
from services.console.api.description import described_api
from services.console.api.explaining import explaining_api
from services.console.api.exports import export_api
from services.console.api.refused import refused_api
from services.console.api.rehearsals import rehearsal_api
from services.console.api.routes import route_api
from services.console.api.silences import silence_api
from services.console.api.standing import standing_api
from services.console.api.traces import trace_api
from services.console.api.unjudged import unjudged_api
from services.console.api.users import user_api
from services.console.api.watches import watch_api
from services.console.assets import asset_route
from services.console.desk import Desk
from services.console.envelope import Envelope
from services.console.pages.admin import admin_pages
from services.console.pages.alerts import alert_pages
from services.console.pages.channels import channel_pages
from services.console.pages.deliveries import delivery_pages
from services.console.pages.login import login_routes
from services.console.pages.now import now_routes
from services.console.pages.oidc import oidc_routes
from services.console.pages.refused import refused_pages
from services.console.pages.rehearsals import rehearsal_pages
from services.console.pages.routes import route_pages
from services.console.pages.silences import silence_pages
from services.console.pages.traces import trace_pages
from services.console.pages.trials import trial_pages
from services.console.pages.unjudged import unjudged_pages
from services.console.pages.watches import watch_pages
from services.console.people.door import Door, same_press
from services.console.people.typed import typed
from services.console.people.way_back import is_press, pressed_on
from services.console.rendering import html
from services.console.settings import LOCAL_NAMES
from services.contracts.declarations import FILE_LIMIT_BYTES

BODY_LIMIT_BYTES: Final = 2 * 3 * FILE_LIMIT_BYTES + 64 * 1024
"""A watch to try and its table of rules, of whose bytes a form writes each as three; the rest."""
BODY_TIMEOUT_SECONDS: Final = 10.0
FOR_PROGRAMS: Final = ("/v1/", "/openapi", "/healthz", "/metrics")
PROBES: Final = ("/healthz/", "/metrics")

_ANSWERS: Final = {
    401: "nobody known asks",
    403: "the role does not allow it",
    404: "there is no such thing",
    408: "the body did not come in time",
    409: "it is not so any more",
    413: "the body is too large",
    422: "not possible; says what to change",
    500: "a mistake of ours, which our log names",
    502: "the lookout refuses the console's own key, or its answer is not understood",
    503: "a store is away, or too much comes at once: again after Retry-After",
}


def create_app(desk: Desk, door: Door, host_names: Collection[str] = LOCAL_NAMES) -> FastAPI:
    """Build the application; it answers under these names only."""
    app = FastAPI(
        title="Aldebaran console",
        version="1",
        description="Everything that the pages show and do. Send an operator's key as "
        "`Authorization: Bearer <key>`; it has the role responder.",
        responses=described(_ANSWERS),
        docs_url=None,
        redoc_url=None,
    )
    app.state.desk = desk
    app.state.door = door
    for router in (
        alert_api(),
        explaining_api(),
        export_api(),
        delivery_api(),
        silence_api(),
        standing_api(),
        channel_api(),
        trace_api(),
        rehearsal_api(),
        watch_api(),
        refused_api(),
        unjudged_api(),
        route_api(),
        user_api(),
        now_routes(),
        alert_pages(),
        delivery_pages(),
        silence_pages(),
        trace_pages(),
        trial_pages(),
        channel_pages(),
        watch_pages(),
        refused_pages(),
        unjudged_pages(),
        rehearsal_pages(),
        route_pages(),
        login_routes(),
        oidc_routes(),
        admin_pages(),
    ):
        app.include_router(router)
    app.router.routes.extend([asset_route(), *health_routes(desk.health)])
    app.add_middleware(
        BoundedBodies, limit_bytes=BODY_LIMIT_BYTES, timeout_seconds=BODY_TIMEOUT_SECONDS
    )
    app.add_middleware(Named, names=list(host_names))
    app.add_middleware(Envelope, clock=desk.clock, answer=answer)
    add_problems(app, answer)
    app.openapi = cache(partial(described_api, app, door))  # type: ignore[method-assign]  # FastAPI's way
    return exact(app)


class Named:
    """Answers under the console's own names only, so that a foreign page which points its name
    here reads nothing. Probes come by address, and are answered.
    """

    def __init__(self, app: ASGIApp, names: list[str]) -> None:
        self._app = app
        self._checked = TrustedHostMiddleware(app, allowed_hosts=names, www_redirect=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check the name, but for probes."""
        is_probe = scope["type"] == "http" and scope["path"].startswith(PROBES)
        await (self._app if is_probe else self._checked)(scope, receive, send)


def answer(request: Request, problem: Problem) -> Response:
    """Tell a problem as JSON to programs, and as a page to people, who are led to the login."""
    if request.url.path.startswith(FOR_PROGRAMS):
        return as_json(request, problem)
    login = problem.members.get("login")
    if problem.status == 401 and isinstance(login, str) and not is_press(request):
        return _led(request, login, problem)
    page = html(
        request,
        "problem.html",
        problem.status,
        title=problem.reason,
        problem=problem,
        login=login,
        pressed=is_press(request),
        back=pressed_on(request),
        again=same_press(request),
        typed=typed(request, problem),
    )
    page.headers.update(problem.headers)
    return page


def _led(request: Request, login: str, problem: Problem) -> Response:
    """Lead to the login; what a page asked by itself is no place for it, so the page goes there."""
    if "hx-request" in request.headers:
        return Response(status_code=401, headers=problem.headers | {"HX-Redirect": login})
    return RedirectResponse(login, 303)
