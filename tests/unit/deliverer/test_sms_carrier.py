"""What Twilio's client sends, and what is made of answers, by a far end of our own."""

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BufferedReader
from itertools import count

import pytest
from pydantic import SecretStr

from services.backbone.certificates import Certificates
from services.backbone.clock import SystemClock
from services.backbone.sockets import has_news
from services.deliverer.channel import Doubt, Message, SendWindow, Unclear
from services.deliverer.channels.sms import carrier as carriers
from services.deliverer.channels.sms.carrier import Carrier, NoAnswer, Way
from services.deliverer.channels.sms.channel import SmsChannel
from services.deliverer.channels.sms.connections import Connections
from services.deliverer.channels.sms.settings import SmsSettings
from services.deliverer.outcomes import Unknown
from services.machine.waiting import wait_until
from tests.unit.deliverer.answers import answering
from tests.unit.deliverer.builders import delivery

TWILIO = "https://api.twilio.com"
ONE = delivery(1, "sms", "+41791234567")
UNREADABLE = [
    *(b"no JSON", b"[]", b"7", b"null", b"[" * 100_000, b'{"meta": 1}'),
    b'{"date_updated": 7}',
    b'{"messages": [{"date_created": "Thu, 01 Jan 99999999999 00:00:00 GMT"}]}',
    b'{"date_updated": "Thu, 01 Jan 99999999999 00:00:00 GMT"}',
    b'{"messages": 7}',
    b'{"messages": [7]}',
    b'{"messages": [{"body": 7}]}',
    b'{"messages": [], "next_page_uri": 7}',
]
"""Answers that its parser fails at, each in a way of its own."""


@dataclass
class FarEnd:
    """Answers each request with the same bytes, and keeps what came, and on which connection."""

    answer: bytes
    came: list[bytes] = field(default_factory=list)
    came_on: list[int] = field(default_factory=list)
    requests_limit: int = 100
    """So many on one connection; then it is closed without a word."""
    later: bytes = b""
    """What each request but a connection's first is answered with, if that is another."""
    drops: int = 0
    """The request, counted from 1, whose connection is closed in place of an answer."""
    url: str = ""
    told: list[str] = field(default_factory=list)

    def connections(self, keep_seconds: float, base: str = "") -> Connections:
        seconds = SystemClock().monotonic_seconds
        return Connections(self.url + base, Certificates(None), keep_seconds, seconds)

    def carrier(self, connections: Connections | None = None) -> Carrier:
        way = Way(connections or self.connections(0), 5.0, 5.0)
        return Carrier(way, lambda: self.told.append(f"{len(self.came)} came before"))

    def channel(self) -> SmsChannel:
        settings = SmsSettings(
            sms_account_sid="AC" + "0" * 32,
            sms_auth_token=SecretStr("token"),
            sms_sender="+15005550006",
            sms_api_url=self.url,
        )
        return SmsChannel(settings, SystemClock())


def window() -> SendWindow:
    clock = SystemClock()
    return SendWindow(clock, clock.monotonic_seconds() + 60)


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
        for number in count():
            with listening.accept()[0] as connection, connection.makefile("rb") as reading:
                for nth in range(there.requests_limit):
                    if not (request := _request(reading)):
                        break
                    there.came.append(request)
                    there.came_on.append(number)
                    if len(there.came) == there.drops:
                        break
                    connection.sendall((nth and there.later) or there.answer)
    except OSError:
        return  # the test is over


def _request(reading: BufferedReader) -> bytes:
    lines = []
    while (line := reading.readline()) not in (b"\r\n", b""):
        lines.append(line)
    head = b"".join(lines)
    length = re.search(rb"Content-Length: (\d+)", head)
    return head and head + b"\r\n" + reading.read(int(length[1]) if length else 0)


def test_requests_go_to_the_configured_place_and_are_not_repeated() -> None:
    busy = answering(b"busy", b"Retry-After: 5", status=b"503 Busy")
    with far_end(busy) as there:
        carrier = there.carrier(there.connections(0, "/base"))
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
        there.requests_limit = 1
        carrier = there.carrier()
        with pytest.raises(NoAnswer):
            carrier.request("GET", f"{TWILIO}/x")
    assert carrier.answer is None
    assert len(there.came) == 1


@pytest.mark.parametrize("answer", UNREADABLE)
async def test_what_twilios_client_cannot_read_is_in_doubt(answer: bytes) -> None:
    with far_end(answering(answer, status=b"201 Created")) as there:
        channel = there.channel()
        assert isinstance(await channel.send(Message(ONE, attempt=1), window()), Unknown)
        await channel.close()


@pytest.mark.parametrize("answer", UNREADABLE)
async def test_a_list_that_twilios_client_cannot_read_proves_nothing(answer: bytes) -> None:
    with far_end(answering(answer)) as there:
        channel = there.channel()
        doubt = Doubt(ONE, attempt=1, claimed_at_ms=0, lease_over_at_ms=1)
        assert isinstance(await channel.look_up(doubt), Unclear)
        await channel.close()


def test_nothing_leaves_where_nobody_listens() -> None:
    with far_end(b"") as there:
        pass
    with pytest.raises(NoAnswer, match="refused"):
        there.carrier().request("GET", f"{TWILIO}/x")
    assert there.told == []


def test_requests_that_follow_each_other_share_a_connection() -> None:
    with far_end(answering(b"{}")) as there:
        connections = there.connections(60.0)
        for _ in range(3):
            there.carrier(connections).request("POST", f"{TWILIO}/x")
        connections.close()
        for _ in range(2):
            there.carrier(connections).request("POST", f"{TWILIO}/x")
    assert there.came_on == [0, 0, 0, 1, 2]


def test_a_connection_that_was_closed_while_it_was_idle_is_not_used() -> None:
    with far_end(answering(b"{}")) as there:
        there.requests_limit = 1
        connections = there.connections(60.0)
        there.carrier(connections).request("POST", f"{TWILIO}/x")
        wait_until(lambda: _is_closed(connections), 5.0, "the far end to close")
        there.carrier(connections).request("POST", f"{TWILIO}/x")
        connections.close()
    assert there.came_on == [0, 1]


def _is_closed(connections: Connections) -> bool:
    """Tell whether the goodbye has come, without hearing it."""
    ((kept, _),) = connections._kept  # noqa: SLF001 - the socket that only it knows
    return has_news(kept.sock.fileno())


@pytest.mark.parametrize("answer", [answering(b"{}", b"Connection: close"), answering(b"{}")])
def test_a_connection_whose_time_is_over_or_that_the_far_end_ends_is_not_kept(
    answer: bytes,
) -> None:
    with far_end(answer) as there:
        seconds = 60.0 if b"close" in answer else 1e-6
        connections = there.connections(seconds)
        for _ in range(2):
            there.carrier(connections).request("POST", f"{TWILIO}/x")
        connections.close()
    assert there.came_on == [0, 1]


async def test_the_answer_behind_a_preliminary_one_is_not_the_next_messages() -> None:
    with far_end(b"HTTP/1.1 103 Early Hints\r\n\r\n") as there:
        there.later = answering(b'{"sid": "SM1", "status": "queued"}', status=b"201 Created")
        channel = there.channel()
        for _ in range(2):
            assert isinstance(await channel.send(Message(ONE, attempt=1), window()), Unknown)
        await channel.close()
    assert there.came_on == [0, 1]


def test_a_kept_connection_that_dies_in_a_request_is_in_doubt_and_not_asked_again() -> None:
    with far_end(answering(b"{}")) as there:
        there.drops = 2
        connections = there.connections(60.0)
        there.carrier(connections).request("POST", f"{TWILIO}/x")
        with pytest.raises(NoAnswer):
            there.carrier(connections).request("POST", f"{TWILIO}/x")
        connections.close()
    assert there.came_on == [0, 0]
    assert len(there.told) == 2
