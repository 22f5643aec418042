"""Bounds what of a queue's messages is in memory beside their own bytes."""

import asyncio

from services.gateway import metrics


class WaitingRoom:
    """Messages of one queue come in turn, and wait here to be written; for one event loop."""

    def __init__(self, limit_bytes: int) -> None:
        self.turn = asyncio.Lock()
        """Whose message waits for room lets no other of its queue be judged meanwhile."""
        self._limit_bytes = limit_bytes
        self._bytes = 0
        self._freed = asyncio.Event()

    async def hold(self, count: int) -> None:
        """Wait until these bytes fit in, or nothing else is held; who calls has the turn."""
        while self._bytes and self._bytes + count > self._limit_bytes:
            self._freed.clear()
            await self._freed.wait()
        self._add(count)

    def free(self, count: int) -> None:
        """Give back what was held."""
        self._add(-count)
        self._freed.set()

    def _add(self, count: int) -> None:
        self._bytes += count
        metrics.INFLIGHT_BYTES.inc(count)
