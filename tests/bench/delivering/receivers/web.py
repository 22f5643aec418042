"""What takes HTTP requests: webhooks, and the providers that speak HTTP/1.1."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import parse_qs, unquote_plus, urlsplit

from tests.bench.delivering.receivers import Seen, Site

_KEY = re.compile(rb"\r\nidempotency-key: *\"?([^\"\r]+)", re.IGNORECASE)
_LENGTH = re.compile(rb"\r\ncontent-length: *([0-9]+)", re.IGNORECASE)
_DEDUP_KEY: Final = re.compile(rb'"dedup_key": ?"([0-9a-f]{32})"')
_PAYLOAD: Final = re.compile(rb'"delivery_id": ?"([0-9a-f]{32})"')
_OUTPUT: Final = re.compile(r"\[delivery ([0-9a-f]{32})\]")

Named = Callable[[bytes, bytes], str]
"""Finds the delivery id in a request's head and body."""


def key_in_head(head: bytes, body: bytes) -> str:
    """Return the webhook's idempotency key."""
    found = _KEY.search(head)
    return found[1].decode() if found else ""


def key_in_callback(head: bytes, body: bytes) -> str:
    """Return the last part of the address that an SMS's status is to be told to."""
    (callback,) = parse_qs(body.decode())["StatusCallback"]
    return urlsplit(callback).path.rpartition("/")[2]


def key_of_incident(head: bytes, body: bytes) -> str:
    """Return PagerDuty's key, which is the delivery's id."""
    found = _DEDUP_KEY.search(body)
    return found[1].decode() if found else ""


def key_in_payload(head: bytes, body: bytes) -> str:
    """Return the id in the metadata of a Slack message."""
    found = _PAYLOAD.search(body)
    return found[1].decode() if found else ""


def key_in_output(head: bytes, body: bytes) -> str:
    """Return the id in a check result's output, as NRDP gets it."""
    found = _OUTPUT.search(unquote_plus(body.decode()))
    return found[1] if found else ""


def _said(status: str, told: bytes) -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(told)}"
    return head.encode() + b"\r\n\r\n" + told


WEB: Final[dict[str, tuple[Named, bytes]]] = {
    "webhook": (key_in_head, b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
    "sms": (
        key_in_callback,
        _said("201 Created", b'{"sid": "SM%032d", "status": "queued", "error_code": null}' % 1),
    ),
    "pagerduty": (key_of_incident, _said("202 Accepted", b'{"status": "success"}')),
    "slack": (key_in_payload, _said("200 OK", b'{"ok": true, "ts": "1.000001"}')),
    "nrdp": (key_in_output, _said("200 OK", b'{"result": {"status": 0, "message": "OK"}}')),
}
"""How each channel names a delivery, and what its provider answers."""


class Receiver(asyncio.Protocol):
    """One connection; requests may follow one another on it."""

    def __init__(self, channel: str, seen: Seen, answer_after_seconds: float) -> None:
        self._named, self._answered = WEB[channel]
        self._seen = seen
        self._after = answer_after_seconds
        self._first_ns = 0
        self._read = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way back."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Note the first byte's time; answer when the request is whole."""
        self._first_ns = self._first_ns or time.monotonic_ns()
        self._read += data
        head, parted, body = self._read.partition(b"\r\n\r\n")
        length = _LENGTH.search(head)
        if parted and length and len(body) >= int(length[1]):
            self._seen.setdefault(self._named(head, body), []).append(self._first_ns)
            self._first_ns, self._read = 0, b""
            asyncio.get_running_loop().call_later(self._after, self._answer)

    def _answer(self) -> None:
        if not self._transport.is_closing():
            self._transport.write(self._answered)


@asynccontextmanager
async def taking_requests(channel: str, site: Site, seen: Seen) -> AsyncIterator[None]:
    """Take requests while this lasts."""
    server = await asyncio.get_running_loop().create_server(
        lambda: Receiver(channel, seen, site.answer_after_seconds),
        "127.0.0.1",
        site.port,
        backlog=1024,
    )
    async with server:
        yield
