"""HTTP/1.1 with an end to how many connections there are, and how long one asks for nothing."""

import asyncio
from contextlib import suppress
from resource import RLIM_INFINITY, RLIMIT_NOFILE, getrlimit, setrlimit
from time import monotonic
from typing import Final

from services.backbone.http.head import BoundedHead

MOST_CONNECTIONS: Final = 4096
FILES: Final = 4 * MOST_CONNECTIONS
"""So many files open are enough for two ports, and for all else."""

_TOO_MANY: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\n"
    b"Content-Length: 0\r\nConnection: close\r\n\r\n"
)


def connections_limit(descriptors: int) -> int:
    """Return how many connections a port takes of a process that may have so many files open.

    One may have two ports, and the other half is for files, the brokers and Postgres: without any
    it could not do its work.
    """
    return min(descriptors // 4, MOST_CONNECTIONS)


def files_limit() -> int:
    """Let this process have as many files open as it may and ever needs; return how many."""
    soft, hard = getrlimit(RLIMIT_NOFILE)
    wanted = FILES if hard == RLIM_INFINITY else min(hard, FILES)
    if soft == RLIM_INFINITY or soft >= wanted:
        return wanted
    with suppress(ValueError, OSError):  # macOS has another limit below the one it names
        setrlimit(RLIMIT_NOFILE, (wanted, hard))
    return getrlimit(RLIMIT_NOFILE)[0]


class BoundedConnections(BoundedHead):
    """Ends a connection whose request does not come whole in time; where there are too many, the
    one gives way that has waited longest for a request, or whose client reads no answer.

    The limit is uvicorn's `limit_concurrency`, the time its `timeout_keep_alive`.
    """

    idle_since_seconds = 0.0
    """By the machine's clock: that of the loop stands still while it accepts many at once."""
    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin, if there is room or somebody gives way."""
        super().connection_made(transport)
        self.idle_since_seconds = monotonic()
        self._wait_for_head()
        if self.limit_concurrency is not None and len(self.connections) >= self.limit_concurrency:
            self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        """End with it."""
        self._head_came()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on; the first bytes of a request are the beginning of its time."""
        if self._head_timer is None and self.is_idle():
            self._wait_for_head()
        super().data_received(data)

    def on_headers_complete(self) -> None:
        """Wait no longer: what follows is bounded by who reads it."""
        self._head_came()
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """Be idle from now on."""
        self.idle_since_seconds = monotonic()
        super().on_response_complete()

    def is_idle(self) -> bool:
        """Tell whether it owes no answer."""
        return not self.pipeline and (self.cycle is None or self.cycle.response_complete)

    def gives_way(self) -> bool:
        """Tell whether it owes no answer, or one that nobody reads."""
        return self.is_idle() or self.flow.write_paused

    def end(self) -> None:
        """Close; what its client has not read would keep it open for as long as that does not."""
        if self.gives_way() and self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            self.transport.close()

    def _make_room(self) -> None:
        others = (each for each in self.connections if isinstance(each, BoundedConnections))
        giving = [each for each in others if each is not self and each.gives_way()]
        if giving:
            given_up = min(giving, key=lambda each: each.idle_since_seconds)
        else:
            given_up = self
            self.transport.write(_TOO_MANY)
        self.connections.discard(given_up)
        given_up.end()

    def _wait_for_head(self) -> None:
        self._head_timer = self.loop.call_later(self.timeout_keep_alive, self.transport.close)

    def _head_came(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None
