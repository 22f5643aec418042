"""When a dispatcher looks through the ledger: only where something waits there."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from services.backbone.clock import SystemClock
from services.backbone.ledger.claims import Claim, Claims, Due
from services.contracts.states import CLAIMABLE, State
from services.deliverer.assembly import assemble
from services.deliverer.channels.log import LogChannel, LogSettings
from services.deliverer.dispatcher import Dispatcher
from services.deliverer.settings import DelivererSettings
from tests.unit.deliverer.builders import delivery


class AllTaken(Claims):
    """A ledger in which each delivery is in one state, and none is to be had."""

    def __init__(self, state: State) -> None:
        self._state = state
        self.looks = 0
        self.looked = asyncio.Event()

    async def by_id(self, delivery_ids: Sequence[str], limit: int) -> list[Claim]:
        return []

    async def due(self, due: Due) -> list[Claim]:
        self.looks += 1
        self.looked.set()
        return []

    async def states(self, delivery_ids: Sequence[str]) -> dict[str, State]:
        return dict.fromkeys(delivery_ids, self._state)


@asynccontextmanager
async def running(claims: Claims) -> AsyncIterator[Dispatcher]:
    """Run a dispatcher that looks by itself once, at its start."""
    clock = SystemClock()
    settings = DelivererSettings(channel="log", sweep_seconds=3600.0)
    channel = LogChannel(LogSettings(), clock)
    parts = assemble(settings, channel, clock, asyncio.get_running_loop().create_task)
    parts.dispatcher.claims = claims
    task = asyncio.create_task(parts.dispatcher.run())
    try:
        yield parts.dispatcher
    finally:
        await parts.dispatcher.drain(5.0, 5.0)
        await task
        await channel.close()
        parts.producer.close(0.0)


@pytest.mark.parametrize("state", State)
async def test_what_was_taken_before_it_was_told_of_makes_nobody_look(state: State) -> None:
    claims = AllTaken(state)
    async with running(claims) as dispatcher:
        await claims.looked.wait()
        told = [delivery(number) for number in range(3)]
        assert await dispatcher.take(told) == set()
        if state in CLAIMABLE:
            claims.looked.clear()
            await claims.looked.wait()
        for _ in range(10):
            await asyncio.sleep(0)
        assert claims.looks == 1 + (state in CLAIMABLE)
