"""Names that nobody looks up in time keep no other name waiting."""

import asyncio
import socket
import threading
from contextlib import AsyncExitStack
from typing import Any, Final

import aiohttp
import pytest

from services.backbone.clock import SystemClock
from services.deliverer.channel import SendWindow
from services.deliverer.posting import open_web, post
from tests.unit.deliverer.answers import answering

HANGING: Final = 33
"""More than the event loop ever has threads for what may wait."""


class Names:
    """The system's look-up, with names that hang until it is let go."""

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self._look_up = socket.getaddrinfo

    def getaddrinfo(self, host: Any, *more: Any, **named: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        if name.startswith("hangs"):
            self.go_on.wait()
            raise socket.gaierror(socket.EAI_AGAIN, "no answer")
        return self._look_up("127.0.0.1" if name == "well.example" else name, *more, **named)


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(answering(b"well"))
    writer.close()


async def sent(web: aiohttp.ClientSession, host: str, port: int) -> int:
    clock = SystemClock()
    window = SendWindow(clock, clock.monotonic_seconds() + 60)
    return (await post(web, f"http://{host}:{port}/", window, b"x")).status


async def test_names_that_hang_keep_no_other_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    names = Names()
    monkeypatch.setattr(socket, "getaddrinfo", names.getaddrinfo)
    async with AsyncExitStack() as held:
        held.callback(names.go_on.set)
        server = await held.enter_async_context(await asyncio.start_server(answer, "127.0.0.1", 0))
        port = server.sockets[0].getsockname()[1]
        web = await held.enter_async_context(open_web(connect_timeout_seconds=5, ca_file=None))
        lost = [asyncio.create_task(sent(web, f"hangs-{n}", port)) for n in range(HANGING)]
        await asyncio.sleep(0)
        assert await sent(web, "well.example", port) == 200
        names.go_on.set()
        found = await asyncio.gather(*lost, return_exceptions=True)
    assert all(isinstance(each, aiohttp.ClientConnectorDNSError) for each in found)
