"""Whoever sends too large a body is told so, as far as it is worth reading the rest."""

from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from http.client import HTTPConnection

import pytest

from services.backbone.service import HttpServer
from services.gateway.settings import MIB
from services.machine.ports import free_ports
from tests.unit.gateway.surroundings import EVENTS, MemoryWriter, gateway

PATIENCE_SECONDS = 30


@pytest.mark.parametrize(
    ("mib", "read_mib", "connection"), [(5, 5, None), (16, 16, None), (99, 16, "close")]
)
async def test_a_body_of_unknown_length_is_bounded_too(
    mib: int, read_mib: int, connection: str | None
) -> None:
    """Its rest is read and dropped as far as that of an announced one, or its sender is reset."""
    sent = 0

    async def parts() -> AsyncIterator[bytes]:
        nonlocal sent
        for _ in range(mib * 16):
            sent += 1
            yield bytes(MIB // 16)

    with gateway(writer := MemoryWriter()) as it:
        response = await it.post(parts())
        assert it.room.bytes == 0
    assert (response.status_code, response.headers.get("connection")) == (413, connection)
    assert read_mib * 16 <= sent <= read_mib * 16 + 2
    assert writer.written == []


async def test_a_body_over_the_limit_that_stands_still_is_too_large_and_not_too_slow() -> None:
    """Its sender would send all of it again."""

    async def parts() -> AsyncIterator[bytes]:
        yield bytes(5 * MIB)
        raise TimeoutError  # its time is over; a real one may be over before, on a slow machine

    with gateway(MemoryWriter()) as it:
        response = await it.post(parts())
        assert it.room.bytes == 0
    assert (response.status_code, response.headers["connection"]) == (413, "close")


@pytest.mark.parametrize("announced", [True, False])
def test_a_sender_that_reads_when_it_has_sent_all_sees_the_answer(announced: bool) -> None:
    def parts() -> Iterator[bytes]:
        yield from (bytes(MIB // 16) for _ in range(12 * 16))

    headers = {"Content-Length": str(12 * MIB)} if announced else {}
    (port,) = free_ports(1)
    with (
        gateway(MemoryWriter()) as it,
        HttpServer(it.app, "127.0.0.1", port),
        closing(HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)) as sender,
    ):
        sender.request("POST", EVENTS, parts(), headers, encode_chunked=not announced)
        assert sender.getresponse().status == 413
