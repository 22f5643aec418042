"""A webhook receiver in a process of its own: notes when the first byte of each request came.

It prints `{delivery id: [nanoseconds of the monotonic clock, ...]}` as JSON when it is told to end
on its standard input.
"""

import argparse
import asyncio
import json
import re
import sys
import time

_KEY = re.compile(rb"\r\nidempotency-key: *\"?([^\"\r]+)", re.IGNORECASE)
_LENGTH = re.compile(rb"\r\ncontent-length: *([0-9]+)", re.IGNORECASE)
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


class Receiver(asyncio.Protocol):
    """One connection; requests may follow one another on it."""

    def __init__(self, seen: dict[str, list[int]], answer_after_seconds: float) -> None:
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
        key, length = _KEY.search(head), _LENGTH.search(head)
        if parted and key and length and len(body) >= int(length[1]):
            self._seen.setdefault(key[1].decode(), []).append(self._first_ns)
            self._first_ns, self._read = 0, b""
            asyncio.get_running_loop().call_later(self._after, self._answer)

    def _answer(self) -> None:
        if not self._transport.is_closing():
            self._transport.write(ANSWER)


async def receive(port: int, answer_after_seconds: float) -> dict[str, list[int]]:
    """Listen until a line comes in; return what was seen."""
    seen: dict[str, list[int]] = {}
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: Receiver(seen, answer_after_seconds), "127.0.0.1", port, backlog=1024
    )
    sys.stdout.write("listening\n")
    sys.stdout.flush()
    async with server:
        await loop.run_in_executor(None, sys.stdin.readline)
    return seen


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--answer-after", type=float, default=0.0)
    told = parser.parse_args()
    json.dump(asyncio.run(receive(told.port, told.answer_after)), sys.stdout)
