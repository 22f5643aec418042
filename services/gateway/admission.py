"""Bounds what is held in memory at one time: requests, and bytes of their bodies."""

from types import TracebackType

from services.gateway import metrics
from services.gateway.problems import busy


class Room:
    """Counts what is held; use from one event loop only."""

    def __init__(self, limit_requests: int, limit_bytes: int) -> None:
        self._limit_requests = limit_requests
        self._limit_bytes = limit_bytes
        self._requests = 0
        self._bytes = 0

    @property
    def requests(self) -> int:
        """Return how many requests are being worked on."""
        return self._requests

    @property
    def bytes(self) -> int:
        """Return how many bytes of bodies are held."""
        return self._bytes

    def enter(self, expected_bytes: int = 0) -> "Place":
        """Let a request in before its body is read; leave by ending the `with` block.

        Raises:
            Problem: 429, it would be one too many or its announced body too much.
        """
        if self._requests >= self._limit_requests:
            raise busy(f"{self._limit_requests} requests are being worked on")
        self._check(expected_bytes)
        return Place(self)

    def take(self, place: "Place", count: int) -> None:
        """Hold more bytes for one request.

        Raises:
            Problem: 429, all bodies together would be too much.
        """
        self._check(count)
        place.held_bytes += count
        self._bytes += count
        metrics.INFLIGHT_BYTES.set(self._bytes)

    def open(self) -> None:
        """Count one request more."""
        self._requests += 1
        metrics.INFLIGHT_REQUESTS.set(self._requests)

    def close(self, place: "Place") -> None:
        """Give back what a request held."""
        self._requests -= 1
        self._bytes -= place.held_bytes
        metrics.INFLIGHT_REQUESTS.set(self._requests)
        metrics.INFLIGHT_BYTES.set(self._bytes)

    def _check(self, more_bytes: int) -> None:
        if self._bytes + more_bytes > self._limit_bytes:
            raise busy(f"bodies in work hold {self._bytes} of {self._limit_bytes} bytes")


class Place:
    """One request's share of the room."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self.held_bytes = 0

    def take(self, count: int) -> None:
        """Hold more bytes.

        Raises:
            Problem: 429, all bodies together would be too much.
        """
        self._room.take(self, count)

    def __enter__(self) -> "Place":
        self._room.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._room.close(self)
