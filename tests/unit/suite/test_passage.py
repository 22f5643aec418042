"""A passage lets through, keeps to itself, and cuts off exactly what it was told to."""

import socket
import threading
from collections.abc import Iterator

import pytest

from tests.passage import Passage, behind, inside_tls


class Echo:
    """Says everything again, on any number of connections; knows what it was told."""

    def __init__(self) -> None:
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port = self.server.getsockname()[1]
        self.told = b""

    def answer_one(self) -> None:
        connection, _ = self.server.accept()
        with connection:
            while said := connection.recv(100):
                self.told += said
                connection.sendall(said)


@pytest.fixture
def echo() -> Iterator[Echo]:
    echo = Echo()
    with echo.server:
        thread = threading.Thread(target=echo.answer_one)
        thread.start()
        yield echo
        thread.join()


def to(passage: Passage) -> socket.socket:
    return socket.create_connection(("127.0.0.1", passage.port))


def test_a_cut_request_arrives_half_way_and_no_further(echo: Echo) -> None:
    cut: list[bytes] = []
    with Passage(echo.port, half_way=behind(b"cut")).listening() as passage, to(passage) as client:
        client.sendall(b"cut? not yet")
        assert client.recv(100) == b"cut? not yet"
        passage.cut(lambda: cut.append(echo.told))
        client.sendall(b"to be cut here")
        while client.recv(100):
            continue
    assert echo.told == b"cut? not yet" + b"to be cut"
    assert len(cut) == 1


def test_what_was_late_is_heard_when_it_may_be(echo: Echo) -> None:
    way = Passage(echo.port, armed=b"slow", late_seconds=3600)
    with way.listening() as passage, to(passage) as client:
        client.sendall(b"slow")
        while not echo.told:
            continue
        passage.go_on()
        assert client.recv(100) == b"slow"
        assert passage.swallowed == b""


@pytest.mark.parametrize(
    ("sizes", "last"), [((), None), ((30,), None), ((30, 300), 35 + 150), ((200,), 100)]
)
def test_the_middle_of_the_first_long_record_is_found(
    sizes: tuple[int, ...], last: int | None
) -> None:
    records = b"".join(b"\x17\x03\x03" + size.to_bytes(2) + b"x" * size for size in sizes)
    assert inside_tls(200)(records) == last


def test_a_handshake_is_no_request() -> None:
    assert inside_tls(200)(b"\x16\x03\x01\x02\x00" + b"x" * 512) is None
