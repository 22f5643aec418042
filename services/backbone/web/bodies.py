"""Bounded bodies: an application never reads more of a request, or for longer, than it is told."""

import asyncio

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.backbone.web.answers import as_json
from services.backbone.web.problems import Problem, too_large


class BoundedBodies:
    """Reads a small body whole, then asks the application; answers 413 and 408 in its stead."""

    def __init__(self, app: ASGIApp, limit_bytes: int, timeout_seconds: float) -> None:
        self._app = app
        self._limit_bytes = limit_bytes
        self._timeout_seconds = timeout_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self._timeout_seconds):
                messages = await self._read(receive)
        except TimeoutError:
            await _refuse(Problem(408, "too_slow", "the body did not come in time"), scope, send)
            return
        except Problem as problem:
            await _refuse(problem, scope, send)
            return
        waiting = iter(messages)

        async def again() -> Message:
            return next(waiting, None) or await receive()

        await self._app(scope, again, send)

    async def _read(self, receive: Receive) -> list[Message]:
        messages: list[Message] = []
        size = 0
        while True:
            message = await receive()
            messages.append(message)
            size += len(message.get("body", b""))
            if size > self._limit_bytes:
                raise too_large("the body", self._limit_bytes, close=True)
            if message["type"] != "http.request" or not message.get("more_body", False):
                return messages


async def _refuse(problem: Problem, scope: Scope, send: Send) -> None:
    request = Request(scope)
    await as_json(request, problem)(scope, request.receive, send)
