"""Looks up hosts' names on threads of its own: one that hangs keeps no other name waiting.

The event loop has few threads for that. A look-up that nobody waits for any more keeps its thread
until the system gives up, which takes 10 to 30 s.
"""

import asyncio
import socket
from typing import Final

from aiohttp.abc import AbstractResolver, ResolveResult

from services.deliverer.threads import DaemonThreads

LOOK_UPS_LIMIT: Final = 256
"""Names that are looked up at once; the next ones wait for a thread."""
_Address = tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes]
_NUMERIC: Final = socket.NI_NUMERICHOST | socket.NI_NUMERICSERV


class Resolver(AbstractResolver):
    """Asks the system, as the event loop does."""

    def __init__(self) -> None:
        self._threads = DaemonThreads("names")
        self._places = asyncio.Semaphore(LOOK_UPS_LIMIT)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return where a host is reached.

        Raises:
            OSError: nobody knows it.
        """
        async with self._places:
            return await self._threads.run(lambda: _resolved(host, port, family))

    async def close(self) -> None:
        """Leave threads behind: what they wait for cannot be stopped."""


def _resolved(host: str, port: int, family: socket.AddressFamily) -> list[ResolveResult]:
    found = socket.getaddrinfo(host, port, family, socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
    return [_result(host, kind, protocol, address) for kind, _, protocol, _, address in found]


def _result(
    host: str, kind: socket.AddressFamily, protocol: int, address: _Address
) -> ResolveResult:
    numeric, port = socket.getnameinfo(address, _NUMERIC)  # of a link-local one with its interface
    return ResolveResult(
        hostname=host,
        host=numeric,
        port=int(port),
        family=kind,
        proto=protocol,
        flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
    )
