"""Apple's end of the push channel: HTTP/2 over TLS, requests beside each other on a connection.

It does only what our channel needs, and judges nothing, since what it takes of the processors is
missing elsewhere.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import DataReceived, Event, RequestReceived, StreamEnded

from services.simulator.inbox.apns.account import kept
from tests.bench.delivering.receivers import Seen, Site


class Apple(asyncio.Protocol):
    """One connection; a request is noted when its headers come, and answered when it is whole."""

    def __init__(self, seen: Seen, answer_after_seconds: float) -> None:
        self._seen = seen
        self._after = answer_after_seconds
        config = H2Configuration(client_side=False, header_encoding="utf-8")
        self._http = H2Connection(config)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._http.initiate_connection()
        self._flush()

    def data_received(self, data: bytes) -> None:
        """Read frames, all of them come by now."""
        now = time.monotonic_ns()
        for event in self._http.receive_data(data):
            self._see(event, now)
        self._flush()

    def _see(self, event: Event, now: int) -> None:
        match event:
            case RequestReceived(headers=list(headers)):
                told = {str(name): str(value) for name, value in headers}
                self._seen.setdefault(told.get("apns-collapse-id", ""), []).append(now)
            case DataReceived(stream_id=int(stream), flow_controlled_length=int(length)):
                self._http.acknowledge_received_data(length, stream)
            case StreamEnded(stream_id=int(stream)):
                asyncio.get_running_loop().call_later(self._after, self._answer, stream)

    def _answer(self, stream: int) -> None:
        self._http.send_headers(stream, [(":status", "200")], end_stream=True)
        self._flush()

    def _flush(self) -> None:
        if not self._transport.is_closing():
            self._transport.write(self._http.data_to_send())


@asynccontextmanager
async def taking_pushes(site: Site, seen: Seen) -> AsyncIterator[None]:
    """Take pushes while this lasts, with the certificate of the account in the site's folder."""
    tls = kept(site.folder, time.time_ns() // 1_000_000).tls()
    server = await asyncio.get_running_loop().create_server(
        lambda: Apple(seen, site.answer_after_seconds), "127.0.0.1", site.port, ssl=tls
    )
    try:
        yield
    finally:
        server.close()  # not waited for: a deliverer keeps its connection as long as it runs
