"""Bounds what of all messages is in memory beside their own bytes."""

import asyncio

from services.gateway import metrics


class WaitingRoom:
    """Messages are judged in turn, and wait here to be written; use from one event loop only."""

    def __init__(self, limit_bytes: int) -> None:
        self.turn = asyncio.Lock()
        """Hold it to parse a message: parsed it is up to thirty times its bytes."""
        self._limit_bytes = limit_bytes
        self._bytes = 0
        self._freed = asyncio.Event()

    async def hold(self, count: int) -> None:
        """Wait until these bytes fit in, or nothing else is held; who calls has the turn."""
        while self._bytes and self._bytes + count > self._limit_bytes:
            self._freed.clear()
            await self._freed.wait()
        self._set(self._bytes + count)

    def free(self, count: int) -> None:
        """Give back what was held."""
        self._set(self._bytes - count)
        self._freed.set()

    def _set(self, held: int) -> None:
        self._bytes = held
        metrics.INFLIGHT_BYTES.set(held)
