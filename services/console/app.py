"""The web application: pages, API, health; what each answer carries for the browser's safety."""

from collections.abc import Awaitable, Callable
from typing import Final

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from services.backbone.clock import Clock
from services.backbone.errors import Transient
from services.backbone.health import Health, health_routes
from services.backbone.ledger.reading import LedgerReader
from services.backbone.log import logger
from services.console.api import api_routes
from services.console.metrics import REQUESTS
from services.console.pages import page_routes, problem_page
from services.console.problems import PROBLEM_TYPE, Problem, ledger_away

log = logger(__name__)

LOCAL_NAMES: Final = ["127.0.0.1", "localhost"]
"""Other names in a request mean that a foreign page has pointed its own name at this machine."""

SAFE_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


def create_app(reader: LedgerReader, health: Health, clock: Clock, refresh_seconds: int) -> FastAPI:
    """Build the application."""
    app = FastAPI(title="Aldebaran console", version="1", docs_url=None, redoc_url=None)
    app.include_router(api_routes(reader))
    app.include_router(page_routes(reader, refresh_seconds))
    app.router.routes.extend(health_routes(health))
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=LOCAL_NAMES)
    _add_headers_and_times(app, clock)
    _add_problems(app, refresh_seconds)
    return app


def _add_headers_and_times(app: FastAPI, clock: Clock) -> None:
    @app.middleware("http")
    async def around(
        request: Request, answer: Callable[[Request], Awaitable[Response]]
    ) -> Response:
        begun = clock.monotonic_seconds()
        response = await answer(request)
        response.headers.update(SAFE_HEADERS)
        route = request.scope.get("route")
        path = route.path if isinstance(route, Route) else "other"
        seconds = clock.monotonic_seconds() - begun
        REQUESTS.labels(route=path, status=str(response.status_code)).observe(seconds)
        return response


def _add_problems(app: FastAPI, refresh_seconds: int) -> None:
    def answer(request: Request, problem: Problem) -> Response:
        if not request.url.path.startswith("/v1/"):
            return problem_page(problem, refresh_seconds)
        return JSONResponse(
            problem.body(), problem.status, problem.headers(), media_type=PROBLEM_TYPE
        )

    @app.exception_handler(Problem)
    async def on_problem(request: Request, problem: Problem) -> Response:
        return answer(request, problem)

    @app.exception_handler(Transient)
    async def on_transient(request: Request, error: Transient) -> Response:
        log.warning("ledger_away", reason=str(error))
        return answer(request, ledger_away(error))

    @app.exception_handler(RequestValidationError)
    async def on_bad_question(request: Request, error: RequestValidationError) -> Response:
        places = (
            f"{'.'.join(map(str, each['loc'][1:]))}: {each['msg']}" for each in error.errors()
        )
        return answer(request, Problem(422, "bad_question", "; ".join(places)))

    @app.exception_handler(HTTPException)
    async def on_http(request: Request, error: HTTPException) -> Response:
        reason = {404: "no_such_page", 405: "wrong_method"}.get(error.status_code, "http")
        return answer(request, Problem(error.status_code, reason, str(error.detail)))

    @app.exception_handler(Exception)
    async def on_bug(request: Request, error: Exception) -> Response:
        # One reader's request must not stop the others, so a bug ends the request only.
        log.error("bug", exc_info=error)
        return answer(request, Problem(500, "bug", "we made a mistake; the log says which"))
