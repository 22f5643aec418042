"""A way to a server on which answers are lost or come late, and requests end half way."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

End = Callable[[bytes], int | None]
"""How many bytes of a piece of a request are its last; None where the request goes on."""

_APPLICATION_DATA: Final = 0x17
_HEADER_BYTES: Final = 5
"""Of a record of TLS: type, version, length."""


def behind(word: bytes) -> End:
    """Let a request end behind a word."""

    def end(piece: bytes) -> int | None:
        place = piece.find(word)
        return None if place < 0 else place + len(word)

    return end


def inside_tls(least_bytes: int) -> End:
    """Let a request end in the middle of the first encrypted record of so many bytes."""

    def end(piece: bytes) -> int | None:
        at = 0
        while at + _HEADER_BYTES <= len(piece) and piece[at] == _APPLICATION_DATA:
            length = int.from_bytes(piece[at + 3 : at + _HEADER_BYTES])
            if length >= least_bytes:
                return at + length // 2
            at += _HEADER_BYTES + length
        return None

    return end


@dataclass
class Way:
    """One connection through the passage; `heard` is whether the client is to hear the server."""

    client: socket.socket
    upstream: socket.socket
    heard: threading.Event = field(default_factory=threading.Event)

    def close(self) -> None:
        """Let both sides see the end."""
        for each in (self.client, self.upstream):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)


@dataclass
class Passage:
    """Forwards TCP connections to a server; can keep what it says, or what it is told, to itself.

    Armed with a word, it lets the bytes that hold the word through to the server, and nothing
    that the server answers on that connection from then on: so the server has taken what nobody
    will hear of. With `late_seconds`, what it answers is heard so much later.
    """

    server_port: int
    port: int = 0
    armed: bytes | None = None
    late_seconds: float | None = None
    half_way: End | None = None
    """Where a request is neither just begun nor whole."""
    swallowed: bytes = b""
    _then: Callable[[], object] | None = None
    _ways: list[Way] = field(default_factory=list)
    _carriers: list[threading.Thread] = field(default_factory=list)
    _cutting: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def listening(self) -> Iterator["Passage"]:
        with socket.create_server(("127.0.0.1", self.port)) as server:
            self.port = server.getsockname()[1]
            thread = threading.Thread(target=self._accept, args=(server,), daemon=True)
            thread.start()
            try:
                yield self
            finally:
                server.shutdown(socket.SHUT_RDWR)
                thread.join()
                self.hang_up()
                for each in self._carriers:
                    each.join()

    def cut(self, then: Callable[[], object]) -> None:
        """Let one more request through half way, then do something, and end that connection."""
        self._then = then

    def hang_up(self) -> None:
        """Close every connection."""
        for each in self._ways:
            each.close()
        self.go_on()

    def go_on(self) -> None:
        """Swallow no more; connections stay, and what was swallowed is lost."""
        self.armed = None
        for each in self._ways:
            each.heard.set()

    def _accept(self, server: socket.socket) -> None:
        while True:
            try:
                client, _ = server.accept()
                upstream = socket.create_connection(("127.0.0.1", self.server_port))
            except OSError:
                return
            self._ways.append(Way(client, upstream))
            carrier = threading.Thread(target=self._carry, args=(self._ways[-1],), daemon=True)
            self._carriers.append(carrier)
            carrier.start()

    def _carry(self, way: Way) -> None:
        way.heard.set()
        up = threading.Thread(target=self._up, args=(way,), daemon=True)
        with way.client, way.upstream:
            up.start()
            self._down(way)
            way.close()
            up.join()

    def _up(self, way: Way) -> None:
        with suppress(OSError):
            while said := way.client.recv(65536):
                if self.armed is not None and self.armed in said:
                    way.heard.clear()
                last, then = self._cut_of(said)
                way.upstream.sendall(said[:last])
                if then is not None:
                    then()
                    break
            way.upstream.shutdown(socket.SHUT_WR)

    def _cut_of(self, said: bytes) -> tuple[int | None, Callable[[], object] | None]:
        with self._cutting:
            last = self.half_way(said) if self.half_way and self._then else None
            if last is None:
                return None, None
            then, self._then = self._then, None
        return last, then

    def _down(self, way: Way) -> None:
        with suppress(OSError):
            while answered := way.upstream.recv(65536):
                if way.heard.is_set() or self._is_late(way):
                    way.client.sendall(answered)
                else:
                    self.swallowed += answered

    def _is_late(self, way: Way) -> bool:
        """Wait until what was held back may be heard; False where it never may."""
        if self.late_seconds is None:
            return False
        way.heard.wait(self.late_seconds)
        way.heard.set()
        return True
