"""A publisher at the gateway that waits for no answer before it sends the next event."""

import http.client
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from tests.bench.gateway import PATH

SENDERS: Final = 16
"""Requests that can be under way at once; one more waits, and its wait counts."""


class Publisher:
    """Posts events to a gateway, on connections that are kept."""

    def __init__(self, port: int, key: str) -> None:
        self._port = port
        self._headers = {"x-api-key": key, "content-type": "application/x-ndjson"}
        self._own = threading.local()
        self._pool = ThreadPoolExecutor(SENDERS)

    def open(self, events: Sequence[bytes]) -> None:
        """Send what comes before a crossing; its time is nobody's concern."""
        self._pool.submit(self._post, b"\n".join(events))

    def cross(self, event: bytes, index: int, answered_ns: dict[int, int]) -> None:
        """Send one event now; note when it was accepted, by its number."""

        def send() -> None:
            self._post(event)
            answered_ns[index] = time.monotonic_ns()

        self._pool.submit(send)

    def close(self) -> None:
        """Wait for what is under way."""
        self._pool.shutdown()

    def _post(self, body: bytes) -> None:
        connection = self._connection()
        connection.request("POST", PATH, body, self._headers)
        answer = connection.getresponse()
        said = answer.read()
        if answer.status != http.client.OK:
            raise RuntimeError(f"the gateway answered {answer.status}: {said[:200]!r}")

    def _connection(self) -> http.client.HTTPConnection:
        found: http.client.HTTPConnection | None = getattr(self._own, "connection", None)
        if found is None:
            found = self._own.connection = http.client.HTTPConnection("127.0.0.1", self._port)
        return found
