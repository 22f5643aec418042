"""Long-lived HTTP/2 connections: one is shared by all sends; a doubtful one gets no new ones."""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2

from services.backbone.certificates import Certificates
from services.deliverer.channels.push.settings import PushSettings

CONNECTIONS_LIMIT = 4


@dataclass(eq=False)
class Line:
    """A client with its connection; closed when it is retired and its last send is over."""

    client: httpx2.AsyncClient
    tls: ssl.SSLContext
    sends: int = 0
    retired: bool = False
    wire: Any = None
    """The connection's stream, once an answer has come over it."""

    def ended(self) -> bool:
        """Tell whether the other side has closed the connection while it was idle."""
        idle = self.wire is not None and not self.sends
        return idle and bool(self.wire.get_extra_info("is_readable"))


class Lines:
    """The line that new sends take."""

    def __init__(self, settings: PushSettings) -> None:
        self._settings = settings
        self._certificates = Certificates(settings.push_ca_file)
        self._current = self._opened()

    @asynccontextmanager
    async def line(self) -> AsyncIterator[Line]:
        """Hold the current line for one send."""
        if self._current.ended() or self._current.tls is not self._certificates.tls():
            await self._renew()
        line = self._current
        line.sends += 1
        try:
            yield line
        finally:
            line.sends -= 1
            if line.retired and not line.sends:
                await line.client.aclose()

    async def _renew(self) -> None:
        before = self._current
        self.retire(before)
        if not before.sends:
            await before.client.aclose()

    def retire(self, line: Line) -> None:
        """Let new sends take a new connection: this one may be dead without anybody knowing."""
        if line is self._current:
            self._current = self._opened()
        line.retired = True

    async def close(self) -> None:
        """Close the current line."""
        await self._current.client.aclose()

    def _opened(self) -> Line:
        settings, tls = self._settings, self._certificates.tls()
        client = httpx2.AsyncClient(
            base_url=settings.push_url,
            http1=False,
            http2=True,
            timeout=httpx2.Timeout(None, connect=settings.push_connect_timeout_seconds),
            limits=httpx2.Limits(
                max_connections=CONNECTIONS_LIMIT,
                max_keepalive_connections=CONNECTIONS_LIMIT,
                keepalive_expiry=settings.push_idle_seconds,
            ),
            verify=tls,
            follow_redirects=False,
            trust_env=False,
        )
        return Line(client, tls)
