"""Bounded bodies: an application never reads more of a request, or for longer, than it is told."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.backbone.web.answers import as_json
from services.backbone.web.problems import Problem, away, too_large

HELD_LIMIT_BYTES: Final = 32 * 1024 * 1024
"""What all requests together may hold, as anybody may send who reaches the port."""
SMALL_BODY_BYTES: Final = 64 * 1024
"""A body up to this is read also when that is full, so that people can log in and silence."""

Known = Callable[[Headers], object]
"""Raises the problem that answers a request by whose headers nobody known asks."""


@dataclass
class _Body:
    """What is held for one request: joined, as each message weighs more than a byte in it."""

    headers: Headers
    content: bytearray = field(default_factory=bytearray)
    held_bytes: int = 0


class BoundedBodies:
    """Reads a body whole, then asks the application; answers 413, 408 and 503 in its stead.

    With `known`, it holds nothing for who is not.
    """

    def __init__(
        self, app: ASGIApp, limit_bytes: int, timeout_seconds: float, known: Known | None = None
    ) -> None:
        self._app = app
        self._known = known
        self._limit_bytes = limit_bytes
        self._timeout_seconds = timeout_seconds
        self._held_bytes = 0

    @property
    def held_bytes(self) -> int:
        """Return how many bytes of bodies all requests hold."""
        return self._held_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        with self._body(scope) as body:
            try:
                async with asyncio.timeout(self._timeout_seconds):
                    message = await self._read(receive, body)
            except TimeoutError:
                problem = Problem(408, "too_slow", "the body did not come in time")
                await _refuse(problem, scope, send)
            except Problem as problem:
                await _refuse(problem, scope, send)
            else:
                await self._app(scope, _first(message, receive), send)

    @contextmanager
    def _body(self, scope: Scope) -> Iterator[_Body]:
        body = _Body(Headers(scope=scope))
        try:
            yield body
        finally:
            self._held_bytes -= body.held_bytes

    async def _read(self, receive: Receive, body: _Body) -> Message:
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return message
            self._take(body, message.get("body", b""))
            if not message.get("more_body", False):
                whole = bytes(body.content)
                body.content.clear()
                return {"type": "http.request", "body": whole, "more_body": False}

    def _take(self, body: _Body, portion: bytes) -> None:
        if self._known is not None and portion and not body.held_bytes:
            self._known(body.headers)
        size = body.held_bytes + len(portion)
        if size > self._limit_bytes:
            raise too_large("the body", self._limit_bytes)
        if size > SMALL_BODY_BYTES and self._held_bytes + len(portion) > HELD_LIMIT_BYTES:
            raise away("busy", "too many large bodies come at once; send it again in a moment")
        body.content += portion
        body.held_bytes = size
        self._held_bytes += len(portion)


def _first(message: Message, receive: Receive) -> Receive:
    waiting = iter([message])

    async def again() -> Message:
        return next(waiting, None) or await receive()

    return again


async def _refuse(problem: Problem, scope: Scope, send: Send) -> None:
    # What is left of the body is not read.
    problem.headers["Connection"] = "close"
    request = Request(scope)
    await as_json(request, problem)(scope, request.receive, send)
