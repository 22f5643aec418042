"""A way to a server that swallows the server's answers."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field


@dataclass
class Passage:
    """Forwards TCP connections to a server; can swallow what it says, and then hang up or go on.

    Armed with a word, it lets the bytes that hold the word through to the server, and nothing
    that the server answers from then on: so the server has taken what nobody will hear of.
    """

    server_port: int
    port: int = 0
    armed: bytes | None = None
    swallowing: threading.Event = field(default_factory=threading.Event)
    swallowed: bytes = b""
    _open: list[socket.socket] = field(default_factory=list)

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
                self.hang_up()
                thread.join()

    def hang_up(self) -> None:
        """Close every connection."""
        for each in self._open:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self.go_on()

    def go_on(self) -> None:
        """Swallow no more; connections stay, and what was swallowed is lost."""
        self.armed = None
        self.swallowing.clear()

    def _accept(self, server: socket.socket) -> None:
        while True:
            try:
                client, _ = server.accept()
                upstream = socket.create_connection(("127.0.0.1", self.server_port))
            except OSError:
                return
            self._open += [client, upstream]
            for pump in (self._up, self._down):
                threading.Thread(target=pump, args=(client, upstream), daemon=True).start()

    def _up(self, client: socket.socket, upstream: socket.socket) -> None:
        with suppress(OSError), upstream:
            while said := client.recv(65536):
                if self.armed is not None and self.armed in said:
                    self.swallowing.set()
                upstream.sendall(said)

    def _down(self, client: socket.socket, upstream: socket.socket) -> None:
        with suppress(OSError), client:
            while answered := upstream.recv(65536):
                if self.swallowing.is_set():
                    self.swallowed += answered
                else:
                    client.sendall(answered)
