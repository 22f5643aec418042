"""A relay that takes mails; the first byte of a delivery is the first that it says, a greeting or
the mail's first command.

It does only what our channel needs, since what it takes of the processors is missing elsewhere.
"""

import asyncio
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from tests.bench.delivering.receivers import Seen, Site

_ID: Final = re.compile(rb"\r\nmessage-id: *<([^@>]+)@", re.IGNORECASE)
_END: Final = b"\r\n.\r\n"
_GO_AHEAD: Final = b"354 go ahead\r\n"
_ANSWERS: Final = {b"EHLO": b"250 relay\r\n", b"DATA": _GO_AHEAD, b"QUIT": b"221 bye\r\n"}


class Relay(asyncio.Protocol):
    """One session: commands are answered at once, a mail after a while."""

    def __init__(self, seen: Seen, answer_after_seconds: float) -> None:
        self._seen = seen
        self._after = answer_after_seconds
        self._first_ns = 0
        self._read = b""
        self._is_mail = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Greet."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._answer(b"220 relay\r\n")

    def data_received(self, data: bytes) -> None:
        """Note the first byte's time; take commands, and a mail when it is whole."""
        self._first_ns = self._first_ns or time.monotonic_ns()
        self._read += data
        while not self._is_mail and b"\r\n" in self._read:
            command, _, self._read = self._read.partition(b"\r\n")
            answer = _ANSWERS.get(command[:4].upper(), b"250 ok\r\n")
            self._is_mail = answer == _GO_AHEAD
            self._answer(answer)
        if self._is_mail and self._read.endswith(_END):
            self._take(b"\r\n" + self._read)

    def _take(self, mail: bytes) -> None:
        found = _ID.search(mail)
        self._seen.setdefault(found[1].decode() if found else "", []).append(self._first_ns)
        self._first_ns, self._read, self._is_mail = 0, b"", False
        asyncio.get_running_loop().call_later(self._after, self._answer, b"250 kept\r\n")

    def _answer(self, answer: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(answer)


@asynccontextmanager
async def taking_mails(site: Site, seen: Seen) -> AsyncIterator[None]:
    """Take mails while this lasts."""
    server = await asyncio.get_running_loop().create_server(
        lambda: Relay(seen, site.answer_after_seconds), "127.0.0.1", site.port, backlog=1024
    )
    async with server:
        yield
