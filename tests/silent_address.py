"""A name with two addresses, of which the first is silent, as behind a firewall that drops."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import uvloop

NAME = "twice.test"
SILENT, WELL = "127.0.0.2", "127.0.0.1"
_CALLERS = 8
_Address = tuple[socket.AddressFamily, socket.SocketKind, int, str, tuple[str, int]]


@contextmanager
def silent(port: int) -> Iterator[None]:
    """Let what connects to the first address wait for ever: nobody takes calls from its queue."""
    with ExitStack() as held:
        deaf = held.enter_context(socket.socket())
        deaf.bind((SILENT, port))
        deaf.listen(0)
        for _ in range(_CALLERS):
            caller = held.enter_context(socket.socket())
            caller.setblocking(False)
            caller.connect_ex((SILENT, port))
        yield


def _found(port: object) -> list[_Address]:
    assert isinstance(port, int)
    kind = socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, ""
    return [(*kind, (address, port)) for address in (SILENT, WELL)]


class Asyncio(asyncio.SelectorEventLoop):
    """The loop of deliverers; it knows the name."""

    async def getaddrinfo(self, host: Any, port: Any, **how: Any) -> list[Any]:
        return _found(port) if host == NAME else await super().getaddrinfo(host, port, **how)


class Uvloop(uvloop.Loop):
    """The loop of the on-ramp; it knows the name."""

    async def getaddrinfo(self, host: Any, port: Any, **how: Any) -> list[Any]:
        return _found(port) if host == NAME else await super().getaddrinfo(host, port, **how)
