"""The web application: the way in for events, the pages about it, health and metrics."""

from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Final

from fastapi import FastAPI
from jinja2 import Environment, FileSystemLoader, select_autoescape
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from services.backbone.health import Health, health_routes
from services.backbone.log import logger
from services.backbone.web.description import described
from services.backbone.web.keys import bearer
from services.backbone.web.paths import exact
from services.backbone.web.problems import Problem
from services.gateway.answer import refusal
from services.gateway.description import EVENTS_PATH, description
from services.gateway.ingest import Ingest, response, unknown_stream
from services.gateway.pages import StreamPage, StreamsPage, stream_page
from services.gateway.problems import bug

log = logger(__name__)

_HERE: Final = Path(__file__).parent
_KEY_OR_BUG: Final = {401: "No key, or an unknown or expired one.", 500: "A mistake of ours."}
_NO_STREAM: Final = {404: "The stream is not declared; the answer lists those that are."}
_PAGES: Final = Environment(loader=FileSystemLoader(_HERE), autoescape=select_autoescape())


def create_app(ingest: Ingest, health: Health) -> FastAPI:
    """Build the application; its pages load nothing from elsewhere."""
    with_key = ingest.settings.api_keys == "on"
    app = FastAPI(title="Aldebaran gateway", version="1", docs_url=None, redoc_url=None)
    # A plain route: FastAPI's own costs more per request than all that we do with an event.
    app.router.routes.append(Route(EVENTS_PATH, ingest.__call__, methods=["POST"]))
    app.router.routes.extend(health_routes(health))
    _add_pages(app, ingest, with_key=with_key)
    _add_problems(app, ingest)
    openapi = partial(description, app, with_key=with_key)
    app.openapi = cache(openapi)  # type: ignore[method-assign]  # FastAPI's way
    return exact(app)


def _add_pages(app: FastAPI, ingest: Ingest, *, with_key: bool) -> None:
    def page(request: Request, name: str) -> StreamPage:
        declared = ingest.intakes[name].stream
        base_url = ingest.settings.gateway_public_url or str(request.base_url)
        return stream_page(declared, base_url, with_key=with_key)

    @app.get("/v1/streams", summary="List the declared streams", responses=described(_KEY_OR_BUG))
    async def streams(request: Request) -> StreamsPage:
        ingest.guard.caller(bearer(request.headers))
        return StreamsPage(streams=[page(request, name) for name in sorted(ingest.intakes)])

    @app.get(
        "/v1/streams/{stream}",
        summary="Describe one stream",
        responses=described(_KEY_OR_BUG | _NO_STREAM),
    )
    async def one_stream(request: Request, stream: str) -> StreamPage:
        ingest.guard.caller(bearer(request.headers))
        if stream not in ingest.intakes:
            raise unknown_stream(stream, ingest.intakes)
        return page(request, stream)

    @app.get("/docs", include_in_schema=False)
    async def docs(request: Request) -> HTMLResponse:
        pages = [page(request, name) for name in sorted(ingest.intakes)]
        return HTMLResponse(_PAGES.get_template("docs.html").render(pages=pages, with_key=with_key))


def _add_problems(app: FastAPI, ingest: Ingest) -> None:
    def refused(problem: Problem, tell: Callable[[Problem, str], None]) -> Response:
        request_id = ingest.new_id()
        tell(problem, request_id)
        return response(refusal(problem, request_id), request_id)

    def failed(error: Exception) -> Response:
        request_id = ingest.new_id()
        log.error("bug", request_id=request_id, exc_info=error)
        return response(refusal(bug(), request_id), request_id)

    @app.exception_handler(Problem)
    async def on_problem(_: Request, problem: Exception) -> Response:
        return refused(problem, ingest.tell) if isinstance(problem, Problem) else failed(problem)

    @app.exception_handler(HTTPException)
    async def on_http(_: Request, error: Exception) -> Response:
        if not isinstance(error, HTTPException):
            return failed(error)
        # Whoever reaches the port may ask for pages that there are not, and fill no log.
        return refused(_problem_of(error), _whisper)

    @app.exception_handler(Exception)
    async def on_bug(_: Request, error: Exception) -> Response:
        return failed(error)


def _whisper(problem: Problem, request_id: str) -> None:
    log.debug("request_refused", request_id=request_id, reason=str(problem))


def _problem_of(error: HTTPException) -> Problem:
    reasons = {404: "no_such_page", 405: "wrong_method"}
    headers: Mapping[str, str] = error.headers or {}
    allowed = f"; allowed is {headers['Allow']}" if "Allow" in headers else ""
    reason = reasons.get(error.status_code, "http")
    return Problem(error.status_code, reason, f"{error.detail}{allowed}; see /docs", headers)
