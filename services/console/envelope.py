"""What goes around every answer: headers for the browser's safety, and the time it took."""

from collections.abc import Mapping
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.backbone.clock import Clock
from services.backbone.web.answers import Answer, problem_of
from services.console.metrics import REQUESTS

SAFE_HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
OTHER: Final = "other"


class Envelope:
    """Adds the headers and measures; an answer that says itself how it may be kept is heeded.

    A bug is answered in here, as an answer that comes from further out would lack both.
    """

    def __init__(self, app: ASGIApp, clock: Clock, answer: Answer) -> None:
        self._app = app
        self._clock = clock
        self._answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; answers that last, as live ones do, are measured to their head."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun, has_begun = self._clock.monotonic_seconds(), False

        async def headed(message: Message) -> None:
            nonlocal has_begun
            if message["type"] == "http.response.start":
                has_begun = True
                headers = MutableHeaders(scope=message)
                headers.update(SAFE_HEADERS)
                headers.setdefault("Cache-Control", "no-store")
                seconds = self._clock.monotonic_seconds() - begun
                status = str(message["status"])
                REQUESTS.labels(route=_declared(scope), status=status).observe(seconds)
            await send(message)

        try:
            await self._app(scope, receive, headed)
        except Exception as fault:
            if has_begun:
                raise
            told = self._answer(Request(scope), problem_of(fault))
            await told(scope, receive, headed)


def _declared(scope: Scope) -> str:
    path: str = getattr(scope.get("route"), "path", OTHER)
    return path
