"""Bounded bodies: an application never reads more of a request than it is told."""

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.backbone.web.answers import as_json
from services.backbone.web.problems import too_large


class BoundedBodies:
    """Answers 413 before the application sees more of a body than the limit.

    A body is read whole before the application is asked, so it must be small.
    """

    def __init__(self, app: ASGIApp, limit_bytes: int) -> None:
        self._app = app
        self._limit_bytes = limit_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        messages = await self._read(receive)
        if messages is None:
            refusal = as_json(Request(scope), too_large("the body", self._limit_bytes, close=True))
            await refusal(scope, receive, send)
            return
        waiting = iter(messages)

        async def again() -> Message:
            return next(waiting, None) or await receive()

        await self._app(scope, again, send)

    async def _read(self, receive: Receive) -> list[Message] | None:
        messages: list[Message] = []
        size = 0
        while True:
            message = await receive()
            messages.append(message)
            size += len(message.get("body", b""))
            if size > self._limit_bytes:
                return None
            if message["type"] != "http.request" or not message.get("more_body", False):
                return messages
