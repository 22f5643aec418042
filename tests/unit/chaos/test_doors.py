"""Doors pass bytes on, and cut exactly those off that are named."""

import socket
import threading
from collections.abc import Iterator

import pytest

from services.machine.ports import free_ports
from tests.chaos.doors import Cut, Doors

SILENCE_SECONDS = 0.2


class Echo:
    """A store that says back what it is told, until both sides are closed."""

    def __init__(self, port: int) -> None:
        self._server = socket.create_server(("127.0.0.1", port))
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self._server.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection:
            try:
                while said := connection.recv(1024):
                    connection.sendall(said)
            except OSError:
                return


class Street:
    """One echoing store behind a door, and clients with names."""

    def __init__(self) -> None:
        self.names: dict[int, str] = {}
        self.looking, self.may_look = threading.Event(), threading.Event()
        self.may_look.set()
        self.doors = Doors(self._who)
        self.port = free_ports(1)[0]
        self.echo = Echo(self.doors.add("store", self.port))

    def _who(self) -> dict[int, str]:
        self.looking.set()
        assert self.may_look.wait(10)
        return dict(self.names)

    def client(self, name: str) -> socket.socket:
        """Connect as a named program; the name is known before the connection is."""
        made = socket.socket()
        made.bind(("127.0.0.1", 0))
        self.names[made.getsockname()[1]] = name
        made.settimeout(10)
        try:
            made.connect(("127.0.0.1", self.port))
        except OSError:
            made.close()
            raise
        return made


@pytest.fixture
def street() -> Iterator[Street]:
    street = Street()
    yield street
    street.doors.close()
    street.echo.close()


def says_back(client: socket.socket, text: bytes) -> bool:
    """Tell whether the store answers soon."""
    client.sendall(text)
    client.settimeout(SILENCE_SECONDS)
    try:
        return client.recv(1024) == text
    except TimeoutError:
        return False
    finally:
        client.settimeout(10)


def test_what_goes_in_comes_out_and_the_end_too(street: Street) -> None:
    with street.client("a") as client:
        client.sendall(b"x" * 1000)
        client.shutdown(socket.SHUT_WR)
        said = b""
        while chunk := client.recv(4096):
            said += chunk
    assert said == b"x" * 1000


def test_a_silent_cut_delays_only_the_named(street: Street) -> None:
    with street.client("a") as cut_off, street.client("b") as other:
        assert says_back(cut_off, b"1") or cut_off.recv(1024) == b"1"
        with street.doors.cut(frozenset({"a"}), silent=True):
            assert not says_back(cut_off, b"2")
            assert says_back(other, b"3") or other.recv(1024) == b"3"
            late = street.client("a")
            assert not says_back(late, b"4")
        assert cut_off.recv(1024) == b"2"
        assert late.recv(1024) == b"4"
        late.close()


def test_a_cut_that_ends_while_a_newcomer_is_looked_up_holds_it_no_longer(street: Street) -> None:
    with street.doors.cut(frozenset({"a"}), silent=True):
        street.looking.clear()
        street.may_look.clear()
        newcomer = street.client("a")
        assert street.looking.wait(10)
    street.may_look.set()
    with newcomer:
        newcomer.sendall(b"hello")
        assert newcomer.recv(1024) == b"hello"


def test_a_cut_that_resets_ends_connections_and_refuses_new_ones(street: Street) -> None:
    with street.client("a") as cut_off:
        assert says_back(cut_off, b"1") or cut_off.recv(1024) == b"1"
        with street.doors.cut(frozenset({"store"}), silent=False):
            with pytest.raises(ConnectionResetError):
                cut_off.recv(1)
            # The reset may come while one still waits to hear that the connection is made.
            with pytest.raises(ConnectionResetError), street.client("a") as late:
                late.recv(1)
    with street.client("a") as again:
        assert says_back(again, b"2") or again.recv(1024) == b"2"


def test_a_program_always_reaches_itself() -> None:
    cut = Cut(frozenset({"kafka-2"}), silent=True)
    assert cut.parts("kafka", "kafka-2")
    assert cut.parts("kafka-2", "kafka")
    assert cut.parts("", "kafka-2")
    assert not cut.parts("kafka-2", "kafka-2")
    assert not cut.parts("kafka", "kafka-3")
