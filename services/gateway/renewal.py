"""Ends a connection now and then, so that gateways that come take their share of publishers.

Publishers keep their connections, and what stands before several gateways deals out connections,
not requests: whoever was there first would keep all the load.
"""

from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_CLOSE = (b"connection", b"close")


class Renewal:
    """An application of which one answer in so many, by chance, is its connection's last.

    A busy connection so ends sooner than one that carries little, and not all at once. The
    publisher is told (`Connection: close`) and opens another for its next request.
    """

    def __init__(
        self, app: ASGIApp, answers_per_connection: int, draw: Callable[[], float]
    ) -> None:
        self._app = app
        self._share = 1 / answers_per_connection if answers_per_connection else 0.0
        self._draw = draw

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        last = scope["type"] == "http" and self._draw() < self._share
        await self._app(scope, receive, closing(send) if last else send)


def closing(send: Send) -> Send:
    """Return a way to answer that ends the connection."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), _CLOSE]}
        await send(message)

    return sent
