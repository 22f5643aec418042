"""The channel's rate is kept by all of its deliverers together, however many there are and die.

The property: any span of time holds at most rate times span and a burst of sends; and whoever keeps
asking gets nearly all of the rate. It is held by the statements in Postgres and by those in memory.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.backbone.clock import SystemClock
from services.backbone.errors import Transient
from services.backbone.ledger.database import AsyncPool, async_pool
from services.backbone.ledger.deliveries.claims import CLAIM_LIMIT, Claims, Due
from services.backbone.ledger.deliveries.turns import (
    AHEAD_SECONDS,
    TAKINGS_LIMIT,
    Rate,
    Turns,
    furthest_seconds,
)
from services.backbone.ledger.statements import transaction
from services.backbone.settings import LedgerSettings
from services.contracts.states import State
from tests.integration.deliverer.conftest import Start
from tests.integration.deliverer.ledgers import Ledger
from tests.integration.deliverer.receivers import OK, Answer, WebhookReceiver
from tests.integration.deliverer.waiting import until
from tests.simulation.memory.tables import Tables
from tests.simulation.memory.turns import MemoryRate
from tests.unit.deliverer.builders import delivery

pytestmark = pytest.mark.postgres

CLOCK: Final = SystemClock()
START: Final = 1_000_000.0
SLACK: Final = 0.1
"""Of a send: Postgres counts in microseconds, and adds them up."""

Step = tuple[float, int, int, bool]
"""Seconds to pass, turns wanted, of these used, and whether the others are given back."""
STEPS: Final = st.lists(
    st.tuples(
        st.sampled_from((0.0, 0.0, 0.01, 0.1, 0.3, 1.0, 7.0)),
        st.integers(0, 40),
        st.integers(0, 40),
        st.booleans(),
    ),
    max_size=25,
)
RATES: Final = st.sampled_from((0.5, 1.0, 3.0, 20.0, 1000.0))
BURSTS: Final = st.sampled_from((1, 2, 10))
BACK: Final = st.sampled_from((0.3, 5.0, 600.0, 86_400.0))
"""Seconds."""


@dataclass
class InMemory:
    """The rate in memory, asked as the one in Postgres is."""

    rate: MemoryRate
    is_limited: bool = True

    async def turns(self, wanted: int, ahead_seconds: float = AHEAD_SECONDS) -> Turns:
        return self.rate.turns(wanted, ahead_seconds)

    async def give_back(self, turns: Turns, unused: int) -> None:
        if unused:
            self.rate.give_back(turns, unused)


@dataclass
class History:
    """Sends by several deliverers that share a rate; `move` sets the ledger's clock."""

    pace: Rate | InMemory
    move: Callable[[float], Awaitable[None]]
    now: float = START
    begun: list[float] = field(default_factory=list)

    async def take(self, wait: float, wanted: int, used: int, give_back: bool) -> Turns:
        self.now += wait
        await self.move(self.now)
        turns = await self.pace.turns(wanted)
        assert len(turns.in_seconds) <= wanted
        assert list(turns.in_seconds) == sorted(turns.in_seconds)
        used = min(used, len(turns.in_seconds))
        self.begun += [self.now + each for each in turns.in_seconds[:used]]
        if give_back:
            await self.pace.give_back(turns, len(turns.in_seconds) - used)
        return turns

    def check(self, rate: float, burst: int) -> None:
        least = float("inf")
        for number, begin in enumerate(sorted(self.begun)):
            allowed = rate * (begin - START)
            least = min(least, number - allowed)
            assert number + 1 - allowed - least <= burst + SLACK


async def kept(history: History, rate: float, burst: int, steps: list[Step]) -> None:
    for step in steps:
        await history.take(*step)
    history.check(rate, burst)
    await history.take(10.0, 0, 0, False)
    history.begun.clear()
    begin = history.now
    while history.now < begin + 3.0:  # one who asks whenever more is to be had gets it all
        turns = await history.take(0.0, 5, 5, False)
        history.now += turns.more_in_seconds + 1e-5
    history.check(rate, burst)
    assert len(history.begun) >= rate * 3.0 - 1


async def turned_back(
    history: History, rate: float, burst: int, steps: list[Step], back: float
) -> None:
    """The ledger's clock goes back: nobody waits for longer than turns can be taken ahead."""
    for step in steps:
        await history.take(*step)
    history.now -= back
    turns = await history.take(0.0, 1, 1, False)
    limit = furthest_seconds(rate, burst)
    assert turns.in_seconds or turns.more_in_seconds <= min(limit, back + 1 / rate)
    assert turns.in_seconds or back <= limit
    history.now += turns.more_in_seconds
    history.begun.clear()
    await kept(history, rate, burst, steps)


async def all_taken(history: History, rate: float, burst: int) -> None:
    """As much is taken ahead as several may take that find Postgres slow: no turn comes twice."""
    at_once = int(min(CLAIM_LIMIT, burst + rate * AHEAD_SECONDS))
    await history.move(history.now)
    for _ in range(TAKINGS_LIMIT):
        turns = await history.pace.turns(at_once, ahead_seconds=86_400.0)
        assert len(turns.in_seconds) == at_once
        history.begun += [history.now + each for each in turns.in_seconds]
    history.check(rate, burst)


def in_memory(
    rate: float, burst: int, work: Callable[[History], Coroutine[None, None, None]]
) -> None:
    clock = [START]
    tables = Tables(lambda: clock[0])

    async def move(now: float) -> None:
        clock[0] = now

    pace = InMemory(MemoryRate(tables, "sms", rate, burst))
    asyncio.run(work(History(pace, move)))


@given(RATES, BURSTS, STEPS)
def test_the_rate_is_kept_and_used_in_memory(rate: float, burst: int, steps: list[Step]) -> None:
    in_memory(rate, burst, lambda history: kept(history, rate, burst, steps))


@given(RATES, BURSTS, STEPS, BACK)
def test_a_clock_that_goes_back_silences_nobody_for_long_in_memory(
    rate: float, burst: int, steps: list[Step], back: float
) -> None:
    in_memory(rate, burst, lambda history: turned_back(history, rate, burst, steps, back))


@given(RATES, BURSTS)
def test_what_is_taken_far_ahead_is_not_given_again_in_memory(rate: float, burst: int) -> None:
    in_memory(rate, burst, lambda history: all_taken(history, rate, burst))


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(RATES.filter(lambda rate: rate < 100), BURSTS, STEPS)
def test_the_rate_is_kept_and_used_in_postgres(
    ledger_url: str, rate: float, burst: int, steps: list[Step]
) -> None:
    work = _in_postgres(ledger_url, rate, burst, lambda one: kept(one, rate, burst, steps))
    asyncio.run(work)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(RATES.filter(lambda rate: rate < 100), BURSTS, STEPS, BACK)
def test_a_clock_that_goes_back_silences_nobody_for_long_in_postgres(
    ledger_url: str, rate: float, burst: int, steps: list[Step], back: float
) -> None:
    async def work(history: History) -> None:
        await turned_back(history, rate, burst, steps, back)

    asyncio.run(_in_postgres(ledger_url, rate, burst, work))


@pytest.mark.parametrize(("rate", "burst"), [(0.5, 1), (3.0, 10), (20.0, 1), (1000.0, 10)])
def test_what_is_taken_far_ahead_is_not_given_again_in_postgres(
    ledger_url: str, rate: float, burst: int
) -> None:
    asyncio.run(_in_postgres(ledger_url, rate, burst, lambda one: all_taken(one, rate, burst)))


async def _in_postgres(
    url: str, rate: float, burst: int, work: Callable[[History], Awaitable[None]]
) -> None:
    given_settings = {"postgres_url": url, "postgres_pool_size": 1}
    ledger_settings = LedgerSettings.model_validate(given_settings)
    async with async_pool(ledger_settings) as pool:

        async def move(now: float) -> None:
            async with pool.connection() as connection:
                await connection.execute(
                    "SELECT set_config('aldebaran.now', to_timestamp(%s)::text, false)", (now,)
                )

        async with pool.connection() as connection:
            await connection.execute("DELETE FROM turns")
        pace = Rate(pool, CLOCK, channel="sms", per_second=rate, burst=burst)
        await work(History(pace, move))


@pytest.fixture
async def pool(ledger: Ledger) -> AsyncIterator[AsyncPool]:
    async with async_pool(LedgerSettings.model_validate({"postgres_url": ledger.url})) as pool:
        yield pool


async def test_turns_are_given_back_only_while_they_are_the_last(pool: AsyncPool) -> None:
    one, two = (Rate(pool, CLOCK, channel="sms", per_second=0.1, burst=5) for _ in range(2))
    await one.turns(0)
    first = await one.turns(1, ahead_seconds=3600)
    second = await two.turns(1, ahead_seconds=3600)
    await one.give_back(first, 1)
    assert (await one.turns(1, ahead_seconds=3600)).in_seconds > second.in_seconds
    last = await two.turns(1, ahead_seconds=3600)
    await two.give_back(last, 1)
    again = await one.turns(1, ahead_seconds=3600)
    assert again.until == last.until


def claims_of(owner: str, pool: AsyncPool) -> Claims:
    return Claims(pool, channel="webhook", owner=owner, lease_seconds=30.0, age_limit_seconds=1e9)


async def test_at_one_in_minutes_no_two_claim_for_the_same_turn(
    pool: AsyncPool, ledger: Ledger
) -> None:
    ledger.add(*(delivery(number) for number in range(20)))
    pace = Rate(pool, CLOCK, channel="webhook", per_second=0.01, burst=1)
    several = [claims_of(owner, pool) for owner in "abcd"]
    found = await asyncio.gather(*(pace.claim(claims, Due(5)) for claims in several))
    assert sum(len(each.claims) for each in found) == 1
    assert sum(len(each.turns.in_seconds) for each in found) == 1
    assert len(ledger.rows("SELECT * FROM attempts")) == 1
    assert all(each.is_short and each.turns.more_in_seconds > 90 for each in found)


async def test_who_claimed_as_many_as_there_were_turns_knows_that_more_may_be_due(
    pool: AsyncPool, ledger: Ledger
) -> None:
    ledger.add(*(delivery(number) for number in range(60)))
    pace = Rate(pool, CLOCK, channel="webhook", per_second=1000.0, burst=1)
    await pace.turns(500)
    claims = claims_of("a", pool)
    taken = 0
    while taken < 60:
        found = await pace.claim(claims, Due(1000))
        taken += len(found.claims)
        assert found.is_short or taken == 60


async def test_who_stands_still_while_claiming_lets_the_others_go_on(
    pool: AsyncPool, ledger: Ledger
) -> None:
    ledger.add(*(delivery(number) for number in range(2)))
    pace = Rate(pool, CLOCK, channel="webhook", per_second=100.0, burst=2)
    await pace.turns(0)
    claims = claims_of("b", pool)

    async def stand_still() -> None:
        async with transaction(pool) as still:
            await still.execute("SELECT FROM turns FOR UPDATE")
            assert len((await pace.claim(claims, Due(5))).claims) == 2

    with pytest.raises(Transient, match="idle-in-transaction"):
        await stand_still()


def test_two_deliverers_together_keep_the_rate(
    start: Start, ledger: Ledger, receiver: WebhookReceiver
) -> None:
    came: list[float] = []
    clock = SystemClock()

    def note(number: int, key: str) -> Answer:
        came.append(clock.monotonic_seconds())
        return OK

    receiver.script = note
    rate, burst, count = 20, 1, 60
    for _ in range(2):
        start("webhook", rate_per_second=rate, rate_burst=burst)
    begun = clock.monotonic_seconds()
    ledger.add(*(delivery(n, recipient=receiver.url) for n in range(count)))
    until(lambda: set(ledger.states().values()) == {State.SENT}, "all sent")
    assert len(receiver.taken()) == count
    owners = {row["owner"] for row in ledger.rows("SELECT owner FROM attempts")}
    assert len(owners) == 2
    # A slow machine can only make it longer.
    assert came[-1] - begun >= (count - 1 - burst) / rate
