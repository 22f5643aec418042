"""Doors: every connection to a store goes through one, and can be cut there.

A door listens where clients look for a store and passes bytes on to where the store really listens.
Who came in is known by the process behind the connection, so a cut may be between any two programs:
a service and the database, a broker and all others.
"""

import asyncio
import socket
import struct
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from services.machine.ports import free_ports

CHUNK_BYTES = 64 * 1024
ANSWER_SECONDS = 30.0
LINGER_NONE = struct.pack("ii", 1, 0)
T = TypeVar("T")


@dataclass(frozen=True)
class Cut:
    """A network that does not carry: between these programs and everything else behind doors.

    A `silent` cut holds up what is sent until it ends and keeps connections, as TCP makes it of a
    dead switch; another one resets connections, as a firewall does that refuses them.
    """

    programs: frozenset[str]
    silent: bool

    def parts(self, client: str, store: str) -> bool:
        """Tell whether the two cannot reach each other; the same program reaches itself."""
        return client != store and bool({client, store} & self.programs)


@dataclass(eq=False)
class Crossing:
    """One connection through a door."""

    client_port: int
    writers: list[asyncio.StreamWriter] = field(default_factory=list)
    open: asyncio.Event = field(default_factory=asyncio.Event)

    def reset(self) -> None:
        """Drop both sides at once, without a goodbye."""
        for writer in self.writers:
            sock: socket.socket = writer.get_extra_info("socket")
            with suppress(OSError):
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_NONE)
            writer.transport.abort()


@dataclass(eq=False)
class Door:
    """Passes connections on to one store's port."""

    store: str
    port: int
    store_port: int
    crossings: set[Crossing] = field(default_factory=set)


class Census:
    """Names programs by their TCP ports, one look at all of them at a time.

    A look takes a while where there are many connections, and all who are cut off connect again and
    again: with a look for each of them there was no time left for the doors themselves.
    """

    def __init__(self, who: Callable[[], dict[int, str]]) -> None:
        self._who = who
        self._looks = asyncio.Lock()
        self._next: asyncio.Future[dict[int, str]] | None = None

    async def names(self) -> dict[int, str]:
        """Return a look begun no earlier than now; who asks during one shares the next."""
        if self._next is None:
            self._next = asyncio.ensure_future(self._look())
        return await asyncio.shield(self._next)

    async def _look(self) -> dict[int, str]:
        async with self._looks:
            self._next = None
            return await asyncio.to_thread(self._who)


class Doors:
    """All doors of a run, served by one thread; `who` names programs by their TCP ports."""

    def __init__(self, who: Callable[[], dict[int, str]]) -> None:
        self._census = Census(who)
        self._doors: list[Door] = []
        self._servers: list[asyncio.Server] = []
        self._cut: Cut | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="doors", daemon=True)
        self._thread.start()

    def add(self, store: str, port: int) -> int:
        """Open a door at `port`; return the port at which the store itself shall listen."""
        door = Door(store, port, free_ports(1)[0])
        self._do(self._open(door))
        self._doors.append(door)
        return door.store_port

    @contextmanager
    def cut(self, programs: frozenset[str], silent: bool) -> Iterator[None]:
        """Cut these programs off while the block lasts."""
        self._do(self._apply(Cut(programs, silent)))
        try:
            yield
        finally:
            self._do(self._mend())

    def close(self) -> None:
        """Close all doors."""
        self._do(self._close_all())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _do(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(ANSWER_SECONDS)

    async def _open(self, door: Door) -> None:
        async def come_in(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await self._pass(door, reader, writer)

        self._servers.append(await asyncio.start_server(come_in, "127.0.0.1", door.port))

    async def _pass(
        self, door: Door, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        crossing = Crossing(writer.get_extra_info("peername")[1], [writer])
        door.crossings.add(crossing)
        try:
            await self._stand_before(door, crossing)
            there, back = await asyncio.open_connection("127.0.0.1", door.store_port)
            crossing.writers.append(back)
            async with asyncio.TaskGroup() as both:
                both.create_task(carry(crossing, reader, back))
                both.create_task(carry(crossing, there, writer))
        except (OSError, ExceptionGroup):
            crossing.reset()
        finally:
            door.crossings.discard(crossing)
            for each in crossing.writers:
                each.close()

    async def _stand_before(self, door: Door, crossing: Crossing) -> None:
        """Let a newcomer in, unless it is cut off: then it waits, or is refused."""
        cut = self._cut
        crossing.open.set()
        if cut is None or not cut.parts(await self._name(crossing), door.store):
            return
        if self._cut is not cut:
            return  # mended while the name was looked up: nobody would open to who waits now
        if not cut.silent:
            raise ConnectionResetError
        crossing.open.clear()
        await crossing.open.wait()

    async def _name(self, crossing: Crossing) -> str:
        names = await self._census.names()
        return names.get(crossing.client_port, "")

    async def _apply(self, cut: Cut) -> None:
        self._cut = cut
        names = await self._census.names()
        for door, crossing in self._crossings():
            if cut.parts(names.get(crossing.client_port, ""), door.store):
                if cut.silent:
                    crossing.open.clear()
                else:
                    crossing.reset()

    async def _mend(self) -> None:
        self._cut = None
        for _, crossing in self._crossings():
            crossing.open.set()

    async def _close_all(self) -> None:
        for server in self._servers:
            server.close()
        for _, crossing in self._crossings():
            crossing.reset()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _crossings(self) -> list[tuple[Door, Crossing]]:
        return [(door, crossing) for door in self._doors for crossing in door.crossings]


async def carry(
    crossing: Crossing, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Pass bytes on in one direction; while the crossing is not open they stay where they are."""
    while chunk := await reader.read(CHUNK_BYTES):
        await crossing.open.wait()
        writer.write(chunk)
        await writer.drain()
    await crossing.open.wait()
    with suppress(OSError):
        writer.write_eof()
