"""HTTP/2 over TLS, on a thread of its own; every way in which a connection can fail us."""

import asyncio
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

import orjson
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import DataReceived, Event, RequestReceived, StreamEnded, StreamReset
from h2.exceptions import ProtocolError

from services.simulator.inbox.apns.account import Account
from services.simulator.inbox.faults import NOISE

BODY_LIMIT_BYTES: Final = 64 * 1024

CLOSE_SECONDS: Final = 10.0


class Act(StrEnum):
    """What the server does with a request that was read."""

    ANSWER = "answer"
    SILENCE = "silence"
    NOISE = "noise"
    """Say what is no HTTP/2, and end the connection."""
    DROP = "drop"
    """End the connection without a word."""
    GOAWAY_TAKEN = "goaway taken"
    """End the connection, and say that this stream was looked at."""
    GOAWAY_UNSEEN = "goaway unseen"
    """End the connection, and say that this stream was never looked at."""
    REFUSE_STREAM = "refuse stream"


@dataclass(frozen=True, slots=True)
class Reply:
    """What comes of one request; `taken` tells that it was kept."""

    act: Act = Act.ANSWER
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    said: Mapping[str, Any] | None = None
    taken: bool = False
    delay_seconds: float = 0.0


Answerer = Callable[[Mapping[str, str], bytes], Reply]


class Http2Server:
    """Listens from its making until `close`; `port` 0 takes a free one."""

    def __init__(self, account: Account, answerer: Answerer, host: str, port: int) -> None:
        self._tls = account.tls()
        self._answerer = answerer
        self._address = (host, port)
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._talks: set[Talk] = set()
        self.connections = 0
        """How many were opened so far."""
        self._listening: threading.Event = threading.Event()
        self._trouble: OSError | None = None
        self.port = port
        self._thread = threading.Thread(target=self._run, name="apns", daemon=True)

    def start(self) -> None:
        """Listen.

        Raises:
            OSError: the port is taken.
        """
        self._thread.start()
        self._listening.wait()
        if self._trouble is not None:
            raise self._trouble

    def hang_up(self, politely: bool) -> None:
        """End every connection, with a GOAWAY or without a word, as servers do to idle ones."""

        async def end_all() -> None:
            for talk in list(self._talks):
                if politely:
                    talk.leave()
                else:
                    talk.end()

        asyncio.run_coroutine_threadsafe(end_all(), self._loop).result(CLOSE_SECONDS)

    def close(self) -> None:
        """Stop listening and end every connection."""
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(CLOSE_SECONDS)

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        try:
            server = await self._loop.create_server(self._talk, *self._address, ssl=self._tls)
        except OSError as error:
            self._trouble = error
            self._listening.set()
            return
        self.port = server.sockets[0].getsockname()[1]
        self._listening.set()
        await self._stop.wait()
        server.close()
        for talk in list(self._talks):
            talk.end()

    def _talk(self) -> "Talk":
        self.connections += 1
        return Talk(self._answerer, self._talks)


@dataclass
class _Request:
    headers: dict[str, str]
    body: bytearray = field(default_factory=bytearray)


class Talk(asyncio.Protocol):
    """One connection."""

    def __init__(self, answerer: Answerer, talks: set["Talk"]) -> None:
        self._answerer = answerer
        self._talks = talks
        config = H2Configuration(client_side=False, header_encoding="utf-8")
        self._http = H2Connection(config)
        self._requests: dict[int, _Request] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._taken_up_to = 0
        self._over = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - TCP gives no other kind
        self._transport = transport
        self._talks.add(self)
        self._http.initiate_connection()
        self._flush()

    def connection_lost(self, _: Exception | None) -> None:
        """End what is left."""
        self._over = True
        self._talks.discard(self)
        for task in self._tasks:
            task.cancel()

    def data_received(self, data: bytes) -> None:
        """Read frames."""
        try:
            for event in self._http.receive_data(data):
                self._see(event)
        except ProtocolError:
            self._over = True
        self._flush()
        if self._over:
            self._transport.close()

    def leave(self) -> None:
        """Say which streams were looked at, and close the connection."""
        self._over = True
        self._http.close_connection(last_stream_id=self._taken_up_to)
        self._flush()
        self._transport.close()

    def end(self) -> None:
        """Close the connection at once."""
        self._over = True
        self._transport.abort()

    def _see(self, event: Event) -> None:
        match event:
            case RequestReceived(stream_id=int(stream), headers=list(headers)):
                self._requests[stream] = _Request({str(k): str(v) for k, v in headers})
            case DataReceived(stream_id=int(stream), data=bytes(data)):
                self._add(stream, data, event.flow_controlled_length or 0)
            case StreamReset(stream_id=int(stream)):
                self._requests.pop(stream, None)
            case StreamEnded(stream_id=int(stream)) if stream in self._requests:
                self._answer(stream, self._requests.pop(stream))

    def _add(self, stream: int, data: bytes, length: int) -> None:
        request = self._requests.get(stream)
        if request is not None:
            request.body += data[: BODY_LIMIT_BYTES - len(request.body)]
        self._http.acknowledge_received_data(length, stream)

    def _answer(self, stream: int, request: _Request) -> None:
        if self._over:
            return
        reply = self._answerer(request.headers, bytes(request.body))
        if reply.taken:
            self._taken_up_to = max(self._taken_up_to, stream)
        if not reply.delay_seconds:
            self._act(stream, reply)
            return
        task = asyncio.get_running_loop().create_task(self._act_later(stream, reply))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _act_later(self, stream: int, reply: Reply) -> None:
        await asyncio.sleep(reply.delay_seconds)
        if not self._over:
            self._act(stream, reply)
            self._flush()

    def _act(self, stream: int, reply: Reply) -> None:
        match reply.act:
            case Act.ANSWER:
                self._say(stream, reply)
            case Act.DROP:
                self.end()
            case Act.NOISE:
                self._over = True
                self._transport.write(NOISE)
                self._transport.close()
            case Act.GOAWAY_TAKEN | Act.GOAWAY_UNSEEN:
                self.leave()
            case Act.REFUSE_STREAM:
                self._http.reset_stream(stream, ErrorCodes.REFUSED_STREAM)

    def _say(self, stream: int, reply: Reply) -> None:
        headers = [(":status", str(reply.status)), *reply.headers.items()]
        try:
            self._http.send_headers(stream, headers, end_stream=reply.said is None)
            if reply.said is not None:
                self._http.send_data(stream, orjson.dumps(reply.said), end_stream=True)
        except ProtocolError:
            return  # the sender has left this stream meanwhile

    def _flush(self) -> None:
        if not self._transport.is_closing():
            self._transport.write(self._http.data_to_send())
