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
        """Return how many bytes of bodies are held or announced."""
        return self._bytes

    def enter(self, expected_bytes: int = 0) -> "Place":
        """Let a request in before its body is read, and keep room for what it announced.

        Leave by ending the `with` block.

        Raises:
            Problem: 429, it would be one too many or its announced body too much.
        """
        if self._requests >= self._limit_requests:
            raise busy(f"{self._limit_requests} requests are being worked on")
        self._check(expected_bytes)
        return Place(self, expected_bytes)

    def take(self, place: "Place", count: int) -> None:
        """Hold more bytes for one request; those that it announced are counted already.

        Raises:
            Problem: 429, all bodies together would be too much.
        """
        beyond = max(0, place.held_bytes + count - place.kept_bytes)
        self._check(beyond)
        place.held_bytes += count
        place.kept_bytes += beyond
        self._count(0, beyond)

    def open(self, place: "Place") -> None:
        """Count one request more, and what it announced."""
        self._count(1, place.kept_bytes)

    def close(self, place: "Place") -> None:
        """Give back what was kept for a request."""
        self._count(-1, -place.kept_bytes)

    def _count(self, requests: int, count: int) -> None:
        self._requests += requests
        self._bytes += count
        metrics.INFLIGHT_REQUESTS.set(self._requests)
        metrics.INFLIGHT_BYTES.set(self._bytes)

    def _check(self, more_bytes: int) -> None:
        if self._bytes + more_bytes > self._limit_bytes:
            raise busy(f"bodies in work hold {self._bytes} of {self._limit_bytes} bytes")


class Place:
    """One request's share of the room."""

    def __init__(self, room: Room, expected_bytes: int) -> None:
        self._room = room
        self.held_bytes = 0
        """What has come."""
        self.kept_bytes = expected_bytes
        """What the room counts: what was announced, or what has come if that is more."""

    def take(self, count: int) -> None:
        """Hold more bytes.

        Raises:
            Problem: 429, all bodies together would be too much.
        """
        self._room.take(self, count)

    def __enter__(self) -> "Place":
        self._room.open(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._room.close(self)
