"""Server-sent events: one thread publishes, any number of pages follow."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from typing import Final

from services.console.now import Now

ALIVE_SECONDS: Final = 15.0
"""After so long without news a comment is sent, so that proxies keep the connection."""
FOLLOWERS_LIMIT: Final = 500
LOOK_AT_STOP_SECONDS: Final = 1.0


class TooManyFollowers(Exception):
    """As many pages follow as one process serves."""


Place = tuple[asyncio.AbstractEventLoop, asyncio.Event]
"""Where one page waits for news."""


class Board:
    """The newest value, and those who wait for the next one; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._now: Now | None = None
        self._version = 0
        self._waiting: set[Place] = set()

    @property
    def now(self) -> Now | None:
        """The newest value; None before the first."""
        return self._now

    def publish(self, now: Now) -> None:
        """Replace the value, and wake all who follow."""
        with self._lock:
            self._now, self._version = now, self._version + 1
            waiting = list(self._waiting)
        for loop, event in waiting:
            loop.call_soon_threadsafe(event.set)

    @property
    def followers(self) -> int:
        """How many follow now."""
        return len(self._waiting)

    def take_place(self) -> Place:
        """Return a place to follow from, on the running event loop; whoever takes one leaves it.

        Raises:
            TooManyFollowers: there is none.
        """
        place = asyncio.get_running_loop(), asyncio.Event()
        with self._lock:
            if len(self._waiting) >= FOLLOWERS_LIMIT:
                raise TooManyFollowers
            self._waiting.add(place)
        return place

    def leave(self, place: Place) -> None:
        """Give a place free."""
        with self._lock:
            self._waiting.discard(place)

    async def follow(self, place: Place, stopped: Callable[[], bool]) -> AsyncIterator[Now | None]:
        """Yield each new value, and None when there was none for a while; ends when stopped."""
        _, event = place
        seen, quiet = -1, 0.0
        while not stopped():
            event.clear()
            if self._version != seen and self._now is not None:
                seen, quiet = self._version, 0.0
                yield self._now
                continue
            try:
                async with asyncio.timeout(LOOK_AT_STOP_SECONDS):
                    await event.wait()
            except TimeoutError:
                quiet += LOOK_AT_STOP_SECONDS
                if quiet >= ALIVE_SECONDS:
                    quiet = 0.0
                    yield None


class Drawn:
    """What all who follow are shown, drawn once for each value; to be used on one event loop."""

    def __init__(self, draw: Callable[[Now], str]) -> None:
        self._draw = draw
        self._of: Now | None = None
        self._event = b""

    def event(self, now: Now) -> bytes:
        """Return the message that shows a value."""
        if self._of is not now:
            self._event, self._of = event_text(self._draw(now)), now
        return self._event


def event_text(html: str) -> bytes:
    """Return a message of server-sent events that carries HTML."""
    lines = "".join(f"data: {line}\n" for line in html.splitlines())
    return f"{lines}\n".encode()


ALIVE: Final = b": still here\n\n"
