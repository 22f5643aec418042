"""A deliverer is told to stop while Postgres is slow: what was answered is not taken for not sent.

Goal: I1 to I5 while recorder and sweeper go on after the dispatcher has drained. Method: histories
of this one kind, which are too rare among all others to be met there; the same seeds each time.
"""

import asyncio
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

from services.backbone.ledger.deliveries.claims import Claim
from services.deliverer.channel import SendWindow
from services.deliverer.dispatcher import Dispatcher
from services.deliverer.trust import Standing
from tests.simulation.history import failure_of
from tests.simulation.mutants import no_end_is_remembered
from tests.simulation.plan import Fault, Kind, Plan, draw_plan

HISTORIES = 400


def stop(seed: int) -> Plan:
    """A stop while a record is on its way to Postgres, and a claim's answer on its way back.

    On the claim a sweep waits, which has seen that claim in the ledger and takes it for lost.
    """
    rng, who = random.Random(seed), "deliverer-0"
    slow = [
        (Kind.SLOW, "settle", rng.randint(1, 2), 7.0),
        (Kind.SLOW_ANSWER, "by_id", rng.randint(2, 3), 3.0),
    ]
    faults = [
        Fault(kind, who, statement=statement, number=number, seconds=seconds)
        for kind, statement, number, seconds in slow
    ]
    faults.append(Fault(Kind.DRAIN, who, at_seconds=rng.uniform(1.0, 4.0)))
    plan = replace(draw_plan(seed), deliverers=1, concurrency=8, per_second=None, dedupes=False)
    return replace(plan, faults=tuple(faults), keeping=False, sayings=())


def test_a_stop_while_postgres_is_slow_keeps_the_promises() -> None:
    failures = filter(None, map(failure_of, map(stop, range(HISTORIES))))
    assert [(each.plan.seed, each.reason) for each in failures] == []


def test_a_stop_that_forgets_what_was_answered_is_found() -> None:
    with _forgetful():
        failures = list(filter(None, map(failure_of, map(stop, range(HISTORIES)))))
    assert {each.kind for each in failures} == {"I1"}


@contextmanager
def _forgetful() -> Iterator[None]:
    """Have a stop that ends answered sends too, so that their claims pass for never sent."""

    async def drain(self: Dispatcher, seconds: float, _: float) -> int:
        self.stopping = True
        await asyncio.sleep(seconds)
        self.sender.cut_off()
        for task in self.in_flight.sends.values():
            task.cancel()
        return 0

    async def deliver(
        self: Dispatcher, claim: Claim, standing: Standing, window: SendWindow, seconds: float
    ) -> None:
        try:
            await self.sender.deliver(claim, standing, window, seconds)
        finally:
            self.in_flight.end(claim)
            self.places.give_back(standing)

    with (
        patch.object(Dispatcher, "drain", drain),
        patch.object(Dispatcher, "_deliver", deliver),
        no_end_is_remembered(),
    ):
        yield
