"""What goes around every answer: headers for the browser's safety, and the time it took."""

from collections.abc import Mapping
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.backbone.clock import Clock
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
    """Adds the headers and measures; an answer that says itself how it may be kept is heeded."""

    def __init__(self, app: ASGIApp, clock: Clock) -> None:
        self._app = app
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; answers that last, as live ones do, are measured to their head."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = self._clock.monotonic_seconds()

        async def headed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(SAFE_HEADERS)
                headers.setdefault("Cache-Control", "no-store")
                seconds = self._clock.monotonic_seconds() - begun
                status = str(message["status"])
                REQUESTS.labels(route=_declared(scope), status=status).observe(seconds)
            await send(message)

        await self._app(scope, receive, headed)


def _declared(scope: Scope) -> str:
    path: str = getattr(scope.get("route"), "path", OTHER)
    return path
