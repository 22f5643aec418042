"""Destinations that are left alone: what it costs to look for what waits for them."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence

from services.backbone.clock import ManualClock
from services.backbone.ledger.deliveries.claims import CLAIM_LIMIT_CHARACTERS, Claim, Due
from services.contracts.records import Delivery
from services.deliverer.breaker import Send
from services.deliverer.dispatcher import Dispatcher
from services.deliverer.outcomes import Refused
from tests.unit.deliverer.builders import delivery
from tests.unit.deliverer.test_dispatcher import AtOnce, Backlog, Silent, others_run, running


class TellsMeanwhile(Backlog):
    """A ledger that is told of something new while the first probe is claimed."""

    def __init__(self, rows: list[Delivery], new: Delivery) -> None:
        super().__init__(rows)
        self.new = self.add(new)
        self.take: Callable[[Sequence[Delivery]], Coroutine[None, None, set[str]]] | None = None
        self.taking: list[asyncio.Task[set[str]]] = []
        self.order: list[str] = []

    async def by_id(
        self, delivery_ids: Sequence[str], limit: int, characters: int = CLAIM_LIMIT_CHARACTERS
    ) -> list[Claim]:
        self.order.append("told")
        return await super().by_id(delivery_ids, limit, characters)

    async def due(self, due: Due) -> list[Claim]:
        if due.only is not None:
            self.order.append("probe")
        if self.take is not None and not self.taking:
            self.taking.append(asyncio.create_task(self.take([self.new])))
            await others_run()
        return await super().due(due)


def leave_alone(dispatcher: Dispatcher, names: Sequence[str]) -> None:
    """Let destinations ask to be left alone for a second."""
    now = dispatcher.clock.monotonic_seconds()
    busy = Refused("busy", 1.0)
    for name in names:
        dispatcher.breakers.note(name, Send(busy, now, now, pause_seconds=1.0))


async def test_of_many_dead_destinations_one_statement_finds_who_waits() -> None:
    names = [f"dead-{number:03}" for number in range(300)]
    claims, clock, sender = Backlog([]), ManualClock(), AtOnce()
    async with running(claims, clock, sweep_seconds=1.0, per_recipient=True) as dispatcher:
        dispatcher.sender, dispatcher.announcer = sender, Silent()
        leave_alone(dispatcher, names)
        for waiting in ([], [], ["dead-007", "dead-123"]):
            claims.rows = [delivery(n, recipient=name) for n, name in enumerate(waiting)]
            claims.asked.clear()
            clock.move(1.0)
            dispatcher.look()
            await others_run()
            looks = sum(each.only is not None for each in claims.asked)
            assert looks == 1 + len(waiting)
        assert sender.sent == 2
        assert {*names} == {*dispatcher.breakers.open_destinations()}


async def test_what_is_told_does_not_wait_until_all_are_probed() -> None:
    names = [f"dead-{number}" for number in range(5)]
    new = delivery(9, recipient="well")
    claims = TellsMeanwhile([delivery(n, recipient=name) for n, name in enumerate(names)], new)
    clock = ManualClock()
    async with running(claims, clock, paused=None, per_recipient=True) as dispatcher:
        dispatcher.sender, dispatcher.announcer = AtOnce(), Silent()
        leave_alone(dispatcher, names)
        clock.move(1.0)
        claims.take = dispatcher.take
        dispatcher.heed(paused=False)
        await others_run()
        await others_run()
        assert await claims.taking[0] == set()
    assert claims.order == ["probe", "told", *["probe"] * 4]
