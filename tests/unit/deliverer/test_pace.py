"""A slow claim costs a channel none of its turns, and lets none of them be used twice."""

import asyncio
from dataclasses import dataclass, field

import pytest

from services.backbone.clock import ManualClock
from services.backbone.errors import Transient
from services.backbone.ledger.turns import AHEAD_SECONDS, Turns
from services.deliverer.pace import STALE_SECONDS, TRIES_LIMIT, Paced
from tests.simulation.memory.tables import Tables
from tests.simulation.memory.turns import MemoryRate

PER_SECOND = 200
BURST = 50
PLACES = 32


@dataclass
class SlowLedger:
    """A rate in memory whose answers take a while."""

    clock: ManualClock
    answer_seconds: float = 0.0
    is_limited: bool = True
    asked: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        tables = Tables(self.clock.monotonic_seconds)
        self.rate = MemoryRate(tables, "sms", PER_SECOND, BURST)

    async def turns(self, wanted: int, ahead_seconds: float = AHEAD_SECONDS) -> Turns:
        self.asked.append(wanted)
        given = self.rate.turns(wanted, ahead_seconds)
        self.clock.move(self.answer_seconds)
        return given

    async def give_back(self, turns: Turns, unused: int) -> None:
        self.rate.give_back(turns, unused)


async def sends(paced: Paced, clock: ManualClock, claim_seconds: float, rounds: int) -> list[float]:
    """Claim so often and so slowly, a few at once; return when each send begins."""
    begun: list[float] = []
    for _ in range(rounds):
        room = await paced.soon(PLACES)
        clock.move(claim_seconds)
        used = await paced.surely(room)
        now = clock.monotonic_seconds()
        begun += [now + used.wait_seconds(number, now) for number in range(len(used))]
    return begun


@pytest.mark.parametrize("claim_seconds", [0.01, STALE_SECONDS + 0.05])
def test_a_slow_claim_costs_no_turn(claim_seconds: float) -> None:
    clock = ManualClock()
    ledger = SlowLedger(clock)
    begun = asyncio.run(sends(Paced(ledger, clock), clock, claim_seconds, rounds=100))
    span_seconds = max(begun) - min(begun)
    assert len(begun) >= PER_SECOND * span_seconds - PLACES
    assert len(begun) <= PER_SECOND * span_seconds + BURST + 1


def test_who_finds_nothing_to_send_takes_no_turn_from_others() -> None:
    clock = ManualClock()
    ledger = SlowLedger(clock)
    idle, busy = Paced(ledger, clock), Paced(ledger, clock)

    async def both() -> list[float]:
        begun: list[float] = []
        while len(begun) < 3 * PER_SECOND:
            assert await idle.soon(PLACES) or idle.more_in_seconds > 0
            begun += await sends(busy, clock, 0.001, rounds=1)
        return begun

    begun = asyncio.run(both())
    assert len(begun) >= PER_SECOND * (max(begun) - min(begun)) - PLACES
    assert ledger.asked.count(0) > 3 * PER_SECOND / PLACES


def test_turns_whose_answer_came_late_are_given_back() -> None:
    clock = ManualClock()
    ledger = SlowLedger(clock, answer_seconds=STALE_SECONDS + 0.01)
    paced = Paced(ledger, clock)
    first = ledger.rate.turns(0).until
    with pytest.raises(Transient):
        asyncio.run(paced.surely(3))
    assert ledger.asked == [3] * TRIES_LIMIT
    ledger.rate.turns(0)
    assert first is not None
    assert ledger.rate.turns(1).in_seconds == (0.0,)
