"""Bounds what is held in memory at one time: requests, and bytes of their bodies.

No key shuts the others out: once a second one has come, each has half of the room at most, but for
a request that is its only one.
"""

from collections import defaultdict
from dataclasses import dataclass
from types import TracebackType

from services.gateway import metrics
from services.gateway.problems import Busy


@dataclass(slots=True)
class Held:
    """What one key holds."""

    requests: int = 0
    size_bytes: int = 0


class Room:
    """Counts what is held, by key; use from one event loop only."""

    def __init__(self, limit_requests: int, limit_bytes: int) -> None:
        self._limit_requests = limit_requests
        self._limit_bytes = limit_bytes
        self._requests = 0
        self._bytes = 0
        self._held: defaultdict[str, Held] = defaultdict(Held)
        """By the key's name: every key that has come, for there are a few hundred at most."""

    @property
    def requests(self) -> int:
        """Return how many requests are being worked on."""
        return self._requests

    @property
    def bytes(self) -> int:
        """Return how many bytes of bodies are held or announced."""
        return self._bytes

    def enter(self, key: str, expected_bytes: int = 0) -> "Place":
        """Let a request in before its body is read, and keep room for what it announced.

        Leave by ending the `with` block.

        Raises:
            Busy: 429, it would be one too many or its announced body too much.
        """
        others, share = self._held[key].requests, max(1, self._limit_requests // 2)
        if self._is_shared and others >= share:
            raise self._busy(key, f"the key {key} has its share, {share} requests, in work")
        if self._requests >= self._limit_requests:
            raise self._busy(key, f"{self._limit_requests} requests are being worked on")
        self._check(key, others, expected_bytes)
        return Place(self, key, expected_bytes)

    def take(self, place: "Place", count: int) -> None:
        """Hold more bytes for one request; those that it announced are counted already.

        Raises:
            Busy: 429, all bodies together, or those of its key, would be too much.
        """
        beyond = max(0, place.held_bytes + count - place.kept_bytes)
        self._check(place.key, self._held[place.key].requests - 1, beyond)
        place.held_bytes += count
        place.kept_bytes += beyond
        self._count(place.key, 0, beyond)

    def open(self, place: "Place") -> None:
        """Count one request more, and what it announced."""
        self._count(place.key, 1, place.kept_bytes)

    def close(self, place: "Place") -> None:
        """Give back what was kept for a request."""
        self._count(place.key, -1, -place.kept_bytes)

    @property
    def _is_shared(self) -> bool:
        # With one key in use, nobody else could use the other half.
        return len(self._held) > 1

    def _count(self, key: str, requests: int, count: int) -> None:
        self._held[key].requests += requests
        self._held[key].size_bytes += count
        self._requests += requests
        self._bytes += count
        metrics.INFLIGHT_REQUESTS.set(self._requests)
        metrics.INFLIGHT_BYTES.set(self._bytes)

    def _check(self, key: str, others: int, more_bytes: int) -> None:
        """Refuse bytes of a request whose key has `others` in work beside it."""
        held, share = self._held[key].size_bytes, self._limit_bytes // 2
        if self._is_shared and others and held + more_bytes > share:
            raise self._busy(key, f"bodies of the key {key} hold {held} of its {share} bytes")
        if self._bytes + more_bytes > self._limit_bytes:
            raise self._busy(key, f"bodies in work hold {self._bytes} of {self._limit_bytes} bytes")

    def _busy(self, key: str, detail: str) -> Busy:
        return Busy(detail, key, max(self._held, key=self._fullness))

    def _fullness(self, key: str) -> float:
        held = self._held[key]
        return max(held.requests / self._limit_requests, held.size_bytes / self._limit_bytes)


class Place:
    """One request's share of the room."""

    def __init__(self, room: Room, key: str, expected_bytes: int) -> None:
        self._room = room
        self.key = key
        """The name of the key that the request came with."""
        self.held_bytes = 0
        """What has come."""
        self.kept_bytes = expected_bytes
        """What the room counts: what was announced, or what has come if that is more."""
        self.dropped_bytes = 0
        """What has come of a body over the limit, and was not held."""

    def take(self, count: int) -> None:
        """Hold more bytes.

        Raises:
            Busy: 429, all bodies together, or those of its key, would be too much.
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
