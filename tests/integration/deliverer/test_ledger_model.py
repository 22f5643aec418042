"""The ledger against a simple model: claims, sends, answers, evidence, crashes, zombies and time.

Goal: no delivery is taken by the provider twice without a mark, whoever dies when (I1); nobody
sends on another's claim (I4); nothing counts as sent that the provider has not taken (I5); every
row is at rest or open to see (I2). Method: the real statements on a real Postgres whose clock the
test moves; two owners; a provider that counts what it takes, and tells the truth about it at any
time afterwards; after every step rows equal the model. What evidence moves is test_evidence's
subject: here its moves are taken over, held against the table, and the promises must stand. What is
proven to be taken is not claimed again, nor where a keeper had held back and released its repeat.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, LiteralString

import psycopg
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from psycopg.rows import TupleRow

from services.backbone.backoff import Backoff
from services.backbone.ledger.database import AsyncPool, async_pool
from services.backbone.ledger.deliveries.claims import Claim, Claims, Settlement
from services.backbone.ledger.deliveries.evidence import AsyncEvidenceBook, Evidence, EvidenceKind
from services.backbone.ledger.deliveries.moves import Move
from services.backbone.ledger.deliveries.sweeps import Ruling, Sweeps
from services.backbone.settings import LedgerSettings
from services.contracts.records import Severity
from services.contracts.states import CLAIMABLE, State, may_move
from services.deliverer.decision import Policy, Verdict, decide, decide_doubt
from services.deliverer.outcomes import Accepted, Outcome, Permanent, Refused, Unknown
from tests.integration.deliverer.ledgers import Ledger
from tests.unit.deliverer.builders import delivery

pytestmark = pytest.mark.postgres

LEASE: Final = 30.0
SEND_TIMEOUT: Final = 10.0
DOUBT: Final = 60.0
START: Final = 1_795_000_000.0
_MOVE: Final = "UPDATE deliveries SET state = %s WHERE delivery_id = %s"
_UNWEIGHED: Final = "SELECT delivery_id FROM evidence WHERE weighed_at IS NULL"
_PROVEN: Final = """
SELECT delivery_id FROM evidence WHERE weighed_at IS NOT NULL GROUP BY delivery_id
HAVING bool_or(kind = 'CONFIRMED')
  OR bool_or(kind = 'TAKEN') AND NOT bool_or(kind = 'UNDELIVERED')"""
ROWS: Final = tuple(
    delivery(n, severity=severity)
    for n, severity in enumerate([Severity.CRITICAL, Severity.WARNING])
)


@dataclass
class Row:
    """What the model knows of one delivery."""

    severity: Severity
    state: State = State.PENDING
    fence: int = 0
    owner: str = ""
    due_at: float = 0.0
    lease_until: float = 0.0
    moved_at: float = 0.0
    marked: bool = False
    marks: int = 0

    def move(self, path: tuple[State, ...], now: float) -> None:
        for after in path:
            assert may_move(self.state, after), f"{self.state} to {after}"
            self.state = after
        self.moved_at = now if path else self.moved_at


@dataclass
class Attempt:
    """A claim in an owner's hands, and what the provider has answered, if it was sent."""

    claim: Claim
    window_until: float
    outcome: Outcome | None = None


@dataclass
class World:
    """The real ledger, the model, two owners and the provider."""

    pool: AsyncPool
    policy: Policy
    rng: random.Random
    now: float = START
    owners: list[str] = field(default_factory=lambda: ["a0", "b0"])
    hands: dict[str, list[Attempt]] = field(default_factory=lambda: {"a0": [], "b0": []})
    rows: dict[str, Row] = field(default_factory=dict)
    takes: Counter[tuple[str, bool]] = field(default_factory=Counter)
    taken: list[tuple[str, int]] = field(default_factory=list)
    """Delivery id and number of each try that the provider has taken."""

    def claims(self, owner: str) -> Claims:
        return Claims(
            self.pool, channel="webhook", owner=owner, lease_seconds=LEASE, age_limit_seconds=1e9
        )

    def sweeps(self, owner: str) -> Sweeps:
        return Sweeps(self.pool, channel="webhook", owner=owner, age_limit_seconds=1e9)

    async def begin(self) -> None:
        await self.pass_time(0)
        async with self.pool.connection() as connection:
            await connection.execute("TRUNCATE alerts CASCADE")
        self.rows = {each.delivery_id: Row(each.alert.severity, due_at=START) for each in ROWS}

    async def pass_time(self, seconds: float) -> None:
        self.now += seconds
        async with self.pool.connection() as connection:
            await connection.execute(
                "SELECT set_config('aldebaran.now', to_timestamp(%s)::text, false)", (self.now,)
            )

    async def claim(self, owner: str, some: int) -> None:
        wanted = [each.delivery_id for each in ROWS[: 1 + some % 2]]
        unweighed = {row[0] for row in await self._ask(_UNWEIGHED)}
        due = {
            key
            for key in wanted
            if self.rows[key].state in CLAIMABLE and self.rows[key].due_at <= self.now
            if key not in unweighed
        }
        claimed = await self.claims(owner).by_id(wanted, 10)
        assert {each.delivery_id for each in claimed} == due
        assert not due & {row[0] for row in await self._ask(_PROVEN)}, "taken, and sent again"
        for claim in claimed:
            row = self.rows[claim.delivery_id]
            row.move((State.CLAIMED,), self.now)
            row.fence, row.owner, row.lease_until = row.fence + 1, owner, self.now + LEASE
            assert (claim.fence, claim.marked_repeat) == (row.fence, row.marked)
            self.hands[owner].append(Attempt(claim, self.now + SEND_TIMEOUT))

    async def send(self, owner: str, some: int) -> None:
        """The provider takes a message or not, and answers or not; a closed window sends none."""
        waiting = [each for each in self.hands[owner] if each.outcome is None]
        if not waiting:
            return
        attempt = waiting[some % len(waiting)]
        if self.now >= attempt.window_until:
            attempt.outcome = Refused("too late")
            return
        claim = attempt.claim
        yes = Accepted(_provider_id(claim.delivery_id, claim.attempt))
        kinds: list[Outcome] = [yes, Unknown("taken"), Unknown("lost"), Refused("busy")]
        attempt.outcome = [*kinds, Permanent("never")][some % 5]
        if attempt.outcome in (yes, Unknown("taken")):
            self.takes[claim.delivery_id, claim.marked_repeat] += 1
            self.taken.append((claim.delivery_id, claim.attempt))

    async def settle(self, owner: str, some: int) -> None:
        answered = [each for each in self.hands[owner] if each.outcome is not None]
        if not answered:
            return
        attempt = answered[some % len(answered)]
        self.hands[owner].remove(attempt)
        assert attempt.outcome is not None
        claim = attempt.claim
        verdict = decide(attempt.outcome, claim.attempt, self.policy, self.rng)
        before = await self.claims(owner).settle([_settlement(claim, verdict)])
        row = self.rows[claim.delivery_id]
        own = row.fence == claim.fence and row.owner == owner
        path = {State.CLAIMED: verdict.path, State.IN_DOUBT: verdict.late}.get(row.state, ())
        assert before == ({claim.delivery_id: row.state} if own and path else {})
        if own and path:
            row.move(path, self.now)
            row.due_at = self.now + verdict.retry_in_seconds

    async def sweep(self, owner: str, _: int) -> None:
        known = [(each.claim.delivery_id, each.claim.fence) for each in self.hands[owner]]
        sweeps = self.sweeps(owner)
        lost = {
            (key, row.fence)
            for key, row in self.rows.items()
            if row.state is State.CLAIMED and row.owner == owner
            if (key, row.fence) not in known
        }
        found = await sweeps.lost(known)
        assert set(found) == lost
        assert {each.delivery_id for each in await sweeps.give_back(found)} == {k for k, _ in lost}
        self._moved({key for key, _ in lost}, State.RETRY_WAIT)
        over = {
            key
            for key, row in self.rows.items()
            if row.state is State.CLAIMED and row.lease_until < self.now
        }
        assert {each.delivery_id for each in await sweeps.lease_over()} == over
        self._moved(over, State.IN_DOUBT)
        await self._rule(sweeps)

    async def lose_answer(self, owner: str, some: int) -> None:
        """The claim is committed, but its answer never reaches the owner, who sends nothing."""
        held = list(self.hands[owner])
        await self.claim(owner, some)
        self.hands[owner] = held

    async def callback(self, _: str, some: int) -> None:
        """The provider tells of something that it has taken, however long ago and how often."""
        if not self.taken:
            return
        key, attempt = self.taken[some % len(self.taken)]
        kinds = (EvidenceKind.TAKEN, EvidenceKind.CONFIRMED, EvidenceKind.UNDELIVERED)
        kind, number = kinds[some % 3], attempt if some % 2 else 0
        told = Evidence(key, kind, "callback", _provider_id(key, attempt), attempt=number)
        self._apply(await AsyncEvidenceBook(self.pool).give([told]))

    async def look_up(self, _: str, some: int) -> None:
        """The provider is asked about the last try when its lease is over, and tells the truth."""
        key, row = list(self.rows.items())[some % len(self.rows)]
        if row.fence == 0 or row.lease_until > self.now or row.state is State.CLAIMED:
            return
        yes = (key, row.fence) in self.taken
        kind = EvidenceKind.TAKEN if yes else EvidenceKind.ABSENT
        found = Evidence(key, kind, "look-up", attempt=row.fence)
        self._apply(await AsyncEvidenceBook(self.pool).give([found]))

    async def weigh(self, _owner: str, _some: int) -> None:
        self._apply(await AsyncEvidenceBook(self.pool).weigh("webhook"))

    async def silence(self, _: str, some: int) -> None:
        """A keeper holds a repeat back, or releases it."""
        moves = {State.RETRY_WAIT: State.SUPPRESSED, State.SUPPRESSED: State.PENDING}
        key, row = list(self.rows.items())[some % len(self.rows)]
        if after := moves.get(row.state):
            async with self.pool.connection() as connection:
                await connection.execute(_MOVE, (after.value, key))
            row.move((after,), self.now)

    async def crash(self, owner: str, _: int) -> None:
        """The owner dies with all it knew; it comes back under a new name."""
        del self.hands[owner]
        place = self.owners.index(owner)
        self.owners[place] = f"{owner[0]}{int(owner[1:]) + 1}"
        self.hands[self.owners[place]] = []

    async def wait(self, _: str, some: int) -> None:
        await self.pass_time([1.0, SEND_TIMEOUT, LEASE + 1, DOUBT + 1, 400.0][some % 5])

    async def check(self) -> None:
        found = await self._ask("SELECT delivery_id, state, fence, marked_repeat FROM deliveries")
        assert {row[0]: row[1:] for row in found} == {
            key: (row.state, row.fence, row.marked) for key, row in self.rows.items()
        }
        for key, row in self.rows.items():
            unmarked, marked = self.takes[key, False], self.takes[key, True]
            if not self.policy.dedupes_by_key:
                assert unmarked <= 1, "an unmarked repeat"
                assert marked <= row.marks <= 1
            if row.state in (State.SENT, State.CONFIRMED):
                assert unmarked + marked >= 1, "counted as sent, but never taken"

    def _moved(self, keys: set[str], after: State) -> None:
        for key in keys:
            self.rows[key].move((after,), self.now)
            self.rows[key].due_at = self.now

    def _apply(self, applied: list[Move]) -> None:
        for each in applied:
            row = self.rows[each.delivery_id]
            assert each.before is row.state
            row.move(each.path, self.now)
            row.due_at = self.now if each.path else row.due_at

    async def _ask(self, query: LiteralString) -> list[TupleRow]:
        async with self.pool.connection() as connection:
            return await (await connection.execute(query)).fetchall()

    async def _rule(self, sweeps: Sweeps) -> None:
        wait = 0.0 if self.policy.dedupes_by_key else DOUBT
        doubtful = await sweeps.doubtful(wait)
        assert {each.delivery_id for each in doubtful} == {
            key
            for key, row in self.rows.items()
            if row.state is State.IN_DOUBT and row.moved_at <= self.now - wait
        }
        for each in doubtful:
            row = self.rows[each.delivery_id]
            verdict = decide_doubt(row.severity, each.attempt, row.marked, self.policy)
            after, marked = verdict.path[-1], verdict.marked_repeat
            await sweeps.rule([Ruling(each.delivery_id, each.fence, after, marked, "")])
            self._moved({each.delivery_id}, after)
            row.marked, row.marks = row.marked or marked, row.marks + marked


def _provider_id(key: str, attempt: int) -> str:
    return f"{key[:4]}-{attempt}"


def _settlement(claim: Claim, verdict: Verdict) -> Settlement:
    return Settlement(
        delivery_id=claim.delivery_id,
        fence=claim.fence,
        outcome=verdict.path[0],
        after=verdict.path[-1],
        late_after=verdict.late[-1] if verdict.late else None,
        retry_in_seconds=verdict.retry_in_seconds,
        provider_id=verdict.provider_id,
    )


Step = Callable[[World, str, int], Awaitable[None]]
STEPS: Final[list[Step]] = [
    World.claim,
    World.send,
    World.settle,
    World.sweep,
    World.wait,
    World.crash,
    World.lose_answer,
    World.callback,
    World.look_up,
    World.weigh,
    World.silence,
]


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    dedupes=st.booleans(),
    steps=st.lists(
        st.tuples(st.sampled_from(STEPS), st.integers(0, 1), st.integers(0, 59)),
        min_size=20,
        max_size=60,
    ),
    seed=st.integers(0, 2**32),
)
@example(
    dedupes=True,
    steps=[
        (World.claim, 0, 0),
        (World.send, 0, 1),
        (World.settle, 0, 0),
        (World.silence, 0, 0),
        (World.silence, 0, 0),
        (World.callback, 0, 0),
        (World.wait, 0, 4),
        (World.claim, 0, 0),
    ],
    seed=0,
)
def test_no_history_sends_twice_unmarked(
    ledger: Ledger, dedupes: bool, steps: list[tuple[Step, int, int]], seed: int
) -> None:
    asyncio.run(history(ledger, dedupes, steps, seed))


async def history(
    ledger: Ledger, dedupes: bool, steps: list[tuple[Step, int, int]], seed: int
) -> None:
    policy = Policy(
        dedupes_by_key=dedupes,
        repeats=frozenset({Severity.CRITICAL}),
        attempts_limit=4,
        backoff=Backoff(1.0, limit_seconds=300.0),
        retry_after_limit_seconds=3600.0,
    )
    one_connection = {"postgres_url": ledger.url, "postgres_pool_size": 1}
    async with async_pool(LedgerSettings.model_validate(one_connection)) as pool:
        world = World(pool, policy, random.Random(seed))
        await world.begin()
        ledger.add(*ROWS)
        with psycopg.connect(ledger.url) as connection:
            connection.execute(
                "UPDATE deliveries"
                " SET created_at = to_timestamp(%s), next_attempt_at = to_timestamp(%s)",
                (START, START),
            )
        for step, owner, some in steps:
            await step(world, world.owners[owner], some)
            await world.check()
