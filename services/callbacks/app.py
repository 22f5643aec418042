"""The public application: every route that strangers may reach is in the list here."""

from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from services.backbone.clock import Clock
from services.backbone.log import logger
from services.backbone.web.paths import exact
from services.callbacks.acknowledge import AcknowledgePage
from services.callbacks.door import Book, Door, problem
from services.callbacks.provider import Provider
from services.callbacks.settings import CallbacksSettings

log = logger(__name__)


def create_app(
    providers: Sequence[Provider],
    book: Book,
    clock: Clock,
    settings: CallbacksSettings,
    page: AcknowledgePage | None = None,
) -> Starlette:
    """Build the application; without a page, links open nothing."""
    doors = [
        Door(
            provider,
            book,
            clock,
            settings.callbacks_body_limit_bytes,
            settings.callbacks_body_timeout_seconds,
        ).route()
        for provider in providers
    ]
    routes: list[Route] = [*doors, *([page.route()] if page else [])]
    handlers = {HTTPException: _on_http, Exception: _on_bug}
    return exact(Starlette(routes=routes, exception_handlers=handlers))


async def _on_http(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - it is registered for this type alone
    titles = {404: "no_such_page", 405: "wrong_method", 413: "too_large", 408: "too_slow"}
    return problem(error.status_code, titles.get(error.status_code, "http"), str(error.detail))


async def _on_bug(_: Request, error: Exception) -> Response:
    # One stranger's request must not stop the others, so a bug ends the request only.
    log.error("bug", exc_info=error)
    return problem(500, "bug", "we made a mistake; the log says which")
