"""What Twilio's client sends, and what is made of answers, by a far end of our own."""

import re
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BufferedReader

import pytest

from services.deliverer.channels.sms import carrier as carriers
from services.deliverer.channels.sms.carrier import Carrier, NoAnswer, Way
from tests.unit.deliverer.answers import answering

TWILIO = "https://api.twilio.com"


@dataclass
class FarEnd:
    """Answers each request with the same bytes, and keeps what came."""

    answer: bytes
    came: list[bytes] = field(default_factory=list)
    url: str = ""
    told: list[str] = field(default_factory=list)

    def carrier(self, base: str = "") -> Carrier:
        way = Way(self.url + base, ssl.create_default_context(), 5.0, 5.0)
        return Carrier(way, lambda: self.told.append(f"{len(self.came)} came before"))


@contextmanager
def far_end(answer: bytes) -> Iterator[FarEnd]:
    there = FarEnd(answer)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        there.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        threading.Thread(target=_serve, args=(listening, there), daemon=True).start()
        yield there
        listening.shutdown(socket.SHUT_RDWR)


def _serve(listening: socket.socket, there: FarEnd) -> None:
    try:
        while True:
            with listening.accept()[0] as connection, connection.makefile("rb") as reading:
                there.came.append(_request(reading))
                connection.sendall(there.answer)
    except OSError:
        return  # the test is over


def _request(reading: BufferedReader) -> bytes:
    head = b"".join(iter(reading.readline, b"\r\n"))
    length = re.search(rb"Content-Length: (\d+)", head)
    return head + b"\r\n" + reading.read(int(length[1]) if length else 0)


def test_requests_go_to_the_configured_place_and_are_not_repeated() -> None:
    busy = answering(b"busy", b"Retry-After: 5", status=b"503 Busy")
    with far_end(busy) as there:
        carrier = there.carrier("/base")
        said = carrier.request(
            "POST",
            f"{TWILIO}/2010-04-01/Accounts/AC1/Messages.json?Page=1",
            params={"PageSize": 20},
            data={"Body": "ten seen"},
            headers={"Accept": "application/json"},
            auth=("AC1", "token"),
            timeout=None,
            allow_redirects=False,
        )
    (came,) = there.came
    head, _, body = came.partition(b"\r\n\r\n")
    assert head.startswith(
        b"POST /base/2010-04-01/Accounts/AC1/Messages.json?Page=1&PageSize=20 HTTP/1.1\r\n"
    )
    assert b"Authorization: Basic QUMxOnRva2Vu\r\n" in head
    assert b"Accept: application/json" in head
    assert body == b"Body=ten+seen"
    assert there.told == ["0 came before"]
    assert said.status_code == 503
    assert carrier.answer is not None
    assert carrier.answer.headers.get("retry-after") == "5"
    assert carrier.answer.text == "busy"


def test_redirects_are_not_followed() -> None:
    with far_end(answering(b"", b"Location: /elsewhere", status=b"307 Moved")) as there:
        assert there.carrier().request("POST", f"{TWILIO}/x").status_code == 307
    assert len(there.came) == 1


@pytest.mark.parametrize(
    "answer",
    [
        answering(b"x" * 101),
        answering(b"x" * 20)[:-1],
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        b"what?",
        b"",
    ],
)
def test_what_is_huge_cut_or_no_answer_is_none(
    answer: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(carriers, "ANSWER_LIMIT_BYTES", 100)
    with far_end(answer) as there:
        carrier = there.carrier()
        with pytest.raises(NoAnswer):
            carrier.request("GET", f"{TWILIO}/x")
    assert carrier.answer is None
    assert len(there.came) == 1


def test_nothing_leaves_where_nobody_listens() -> None:
    with far_end(b"") as there:
        pass
    with pytest.raises(NoAnswer, match="refused"):
        there.carrier().request("GET", f"{TWILIO}/x")
    assert there.told == []
