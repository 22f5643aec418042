"""Records outcomes in the ledger, many in one transaction, until it works."""

import asyncio
import random
from dataclasses import dataclass, field

from services.backbone.backoff import Backoff
from services.backbone.clock import Clock
from services.backbone.errors import Transient
from services.backbone.ledger.deliveries.claims import Claims, Settlement
from services.backbone.log import logger
from services.contracts.states import State
from services.deliverer import metrics

log = logger(__name__)

BATCH_LIMIT = 200
RETRY = Backoff(first_seconds=0.05, limit_seconds=2.0)


@dataclass
class Recorder:
    """Collects outcomes while a transaction is under way and writes them all in the next.

    Bounded by the claims in flight: each waits here for its record.
    """

    claims: Claims
    clock: Clock
    rng: random.Random
    _waiting: "list[tuple[Settlement, asyncio.Future[State | None]]]" = field(default_factory=list)
    _wake: asyncio.Event = field(default_factory=asyncio.Event)
    _is_over: bool = False

    async def record(self, settlement: Settlement) -> State | None:
        """Return the state that the row was moved from, or None if it had been moved on.

        Whoever waits here when the recorder ends, or comes later, is cancelled.
        """
        future: asyncio.Future[State | None] = asyncio.get_running_loop().create_future()
        self._waiting.append((settlement, future))
        self._wake.set()
        if self._is_over:
            future.cancel()
        return await future

    async def run(self) -> None:
        """Write what is waiting, until cancelled."""
        try:
            while True:
                await self._wake.wait()
                self._wake.clear()
                await self._write()
        finally:
            self._is_over = True
            for _, future in self._waiting:
                future.cancel()

    async def _write(self) -> None:
        while batch := self._waiting[:BATCH_LIMIT]:
            before = await self._settled([settlement for settlement, _ in batch])
            del self._waiting[: len(batch)]
            for settlement, future in batch:
                if not future.done():
                    future.set_result(before.get(settlement.delivery_id))

    async def _settled(self, batch: list[Settlement]) -> dict[str, State]:
        attempt = 0
        while True:
            begun = self.clock.monotonic_seconds()
            try:
                before = await self.claims.settle(batch)
            except Transient as error:
                attempt += 1
                log.warning("outcomes_not_recorded_yet", count=len(batch), reason=str(error))
                await asyncio.sleep(RETRY.seconds(attempt, self.rng))
            else:
                metrics.RECORD_SECONDS.observe(self.clock.monotonic_seconds() - begun)
                return before
