"""A slow claim costs a channel none of its turns, and lets none of them be used twice."""

import asyncio
import itertools
from dataclasses import dataclass, field, replace
from typing import cast

import pytest

from services.backbone.clock import ManualClock
from services.backbone.errors import Transient
from services.backbone.ledger.alerts.intake import NewDelivery
from services.backbone.ledger.deliveries.claims import Claims, Due
from services.backbone.ledger.deliveries.turns import AHEAD_SECONDS, InTurn, Turns
from services.deliverer.pace import STALE_SECONDS, TRIES_LIMIT, Paced
from tests.simulation.memory.claims import MemoryClaims
from tests.simulation.memory.tables import Tables
from tests.simulation.memory.turns import MemoryRate
from tests.unit.deliverer.builders import delivery

PER_SECOND = 200
BURST = 50
PLACES = 64


@dataclass
class SlowLedger:
    """A rate in memory whose answers take a while."""

    clock: ManualClock
    per_second: float = PER_SECOND
    burst: int = BURST
    lock_seconds: float = 0.0
    """How long a claim waits for the others'."""
    answer_seconds: float = 0.0
    is_limited: bool = True
    asked: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tables = Tables(self.clock.monotonic_seconds)
        self.rate = MemoryRate(self.tables, "sms", self.per_second, self.burst)

    def claims(self, count: int) -> Claims:
        """Return claims of so many deliveries that are due."""
        for told in (delivery(number, channel="sms") for number in range(count)):
            self.tables.insert(NewDelivery(told, told.encode()))
        memory = MemoryClaims(self.tables, "sms", "an owner", 30.0, 1e9)
        return cast(Claims, memory)

    async def claim(self, claims: Claims, due: Due) -> InTurn:
        self.asked.append(due.limit)
        self.clock.move(self.lock_seconds)
        found = self.rate.claim(cast(MemoryClaims, claims), due)
        return replace(found, turns=self._answered(found.turns))

    async def turns(self, wanted: int, ahead_seconds: float = AHEAD_SECONDS) -> Turns:
        self.asked.append(wanted)
        return self._answered(self.rate.turns(wanted, ahead_seconds))

    def _answered(self, turns: Turns) -> Turns:
        asked_at = self.clock.monotonic_seconds()
        self.clock.move(self.answer_seconds)
        return turns.timed(asked_at, self.clock.monotonic_seconds())

    async def give_back(self, turns: Turns, unused: int) -> None:
        self.rate.give_back(turns, unused)


async def sends(paced: Paced, ledger: SlowLedger, claims: Claims, rounds: int) -> list[float]:
    """Claim so often, a few at once; return when each send begins."""
    begun: list[float] = []
    for _ in range(rounds):
        claimed = await paced.claim(claims, Due(PLACES))
        now = ledger.clock.monotonic_seconds()
        turns = claimed.turns
        begun += [now + turns.wait_seconds(n, now) for n in range(len(claimed.claims))]
        ledger.clock.move(0.01)
    return begun


@pytest.mark.parametrize("answer_seconds", [0.01, STALE_SECONDS - 0.01])
@pytest.mark.parametrize("lock_seconds", [0.0, STALE_SECONDS + 0.05])
def test_a_slow_claim_costs_no_turn(lock_seconds: float, answer_seconds: float) -> None:
    ledger = SlowLedger(ManualClock(), lock_seconds=lock_seconds, answer_seconds=answer_seconds)
    paced, claims = Paced(ledger, ledger.clock), ledger.claims(1_000)
    begun = asyncio.run(sends(paced, ledger, claims, rounds=50))
    span_seconds = max(begun) - min(begun)
    assert len(begun) >= PER_SECOND * span_seconds - PLACES
    assert len(begun) <= PER_SECOND * span_seconds + BURST + 1


def test_who_finds_nothing_to_send_takes_no_turn_from_others() -> None:
    ledger = SlowLedger(ManualClock())
    idle, busy = Paced(ledger, ledger.clock), Paced(ledger, ledger.clock)
    nothing, much = SlowLedger(ledger.clock).claims(0), ledger.claims(1_000)

    async def both() -> list[float]:
        begun: list[float] = []
        while len(begun) < 2 * PER_SECOND:
            assert not (await idle.claim(nothing, Due(PLACES))).claims
            begun += await sends(busy, ledger, much, rounds=1)
        return begun

    begun = asyncio.run(both())
    assert len(begun) >= PER_SECOND * (max(begun) - min(begun)) - PLACES


def test_at_one_in_minutes_no_two_deliverers_claim_for_the_same_turn() -> None:
    ledger = SlowLedger(ManualClock(), per_second=0.01, burst=1)
    deliverers, claims = [Paced(ledger, ledger.clock) for _ in range(2)], ledger.claims(10)

    async def both() -> list[float]:
        begun: list[float] = []
        for _ in range(400):
            for each in deliverers:
                claimed = await each.claim(claims, Due(PLACES))
                now = ledger.clock.monotonic_seconds()
                waits = [claimed.turns.wait_seconds(n, now) for n in range(len(claimed.claims))]
                assert max(waits, default=0.0) <= AHEAD_SECONDS
                assert claimed.claims or claimed.is_short
                begun += [now + wait for wait in waits]
            ledger.clock.move(1.0)
        return begun

    begun = asyncio.run(both())
    assert len(begun) == 4
    assert min(later - one for one, later in itertools.pairwise(begun)) >= 100 - AHEAD_SECONDS


def test_nobody_asks_for_turns_before_there_are_any() -> None:
    ledger = SlowLedger(ManualClock(), per_second=0.01, burst=1)
    paced, claims = Paced(ledger, ledger.clock), ledger.claims(10)

    async def often() -> None:
        for _ in range(100):
            if not paced.ask_in_seconds():
                await paced.claim(claims, Due(PLACES))
            ledger.clock.move(0.1)

    asyncio.run(often())
    assert len(ledger.asked) == pytest.approx(10 / AHEAD_SECONDS, abs=2)


def test_turns_whose_answer_came_late_are_given_back() -> None:
    ledger = SlowLedger(ManualClock(), answer_seconds=STALE_SECONDS + 0.01)
    paced = Paced(ledger, ledger.clock)
    first = ledger.rate.turns(0).until
    with pytest.raises(Transient):
        asyncio.run(paced.claim(ledger.claims(3), Due(3)))
    assert ledger.asked == [3] * (1 + TRIES_LIMIT)
    ledger.rate.turns(0)
    assert first is not None
    assert ledger.rate.turns(1).in_seconds == (0.0,)
