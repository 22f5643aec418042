"""The ledger in memory and the real one, side by side: every command is given to both."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final

import psycopg
import pytest
from psycopg.rows import dict_row

from services.backbone.clock import ManualClock
from services.backbone.errors import Refused
from services.backbone.ledger.alerts.intake import Accepted, Intake, NewAlert
from services.backbone.ledger.alerts.outbox import Outbox, OutboxEntry
from services.backbone.ledger.database import AsyncPool, Pool
from services.backbone.ledger.deliveries.claims import Claim, Claims, Due, Settlement
from services.backbone.ledger.deliveries.evidence import AsyncEvidenceBook, Evidence
from services.backbone.ledger.deliveries.look_ups import LookUps, Question
from services.backbone.ledger.deliveries.moves import Move
from services.backbone.ledger.deliveries.occasions import Occasions
from services.backbone.ledger.deliveries.sweeps import Fenced, Ruling, Sweeps, Swept
from services.backbone.ledger.deliveries.turns import Rate
from services.backbone.ledger.deliveries.untold import UntoldMoves
from services.backbone.ledger.operators.words import Word, give_on
from tests.simulation.memory.claims import MemoryClaims
from tests.simulation.memory.evidence import MemoryEvidence
from tests.simulation.memory.intake import MemoryIntake
from tests.simulation.memory.look_ups import MemoryLookUps, MemoryUntold
from tests.simulation.memory.occasions import MemoryOccasions
from tests.simulation.memory.outbox import MemoryOutbox
from tests.simulation.memory.sweeps import MemorySweeps
from tests.simulation.memory.tables import SENDABLE, Tables
from tests.simulation.memory.turns import MemoryRate
from tests.simulation.memory.words import MemoryWords

START: Final = 1_795_000_000.0
LEASE: Final = 30.0
AGE_LIMIT: Final = 500.0
LOOK_UP_TIMES: Final = (1.0, 20.0)
PER_SECOND: Final = 0.1
BURST: Final = 2

_DELIVERIES: Final = """
SELECT delivery_id, alert_id, channel, recipient, repetition, state, attempt, fence, owner,
  marked_repeat, reason, provider_id, extract(epoch FROM lease_until)::float8 AS lease_until,
  extract(epoch FROM next_attempt_at)::float8 AS next_attempt_at,
  extract(epoch FROM published_at)::float8 AS published_at,
  extract(epoch FROM created_at)::float8 AS created_at,
  extract(epoch FROM updated_at)::float8 AS updated_at, record::text AS record
FROM deliveries"""
_ATTEMPTS: Final = """
SELECT delivery_id, attempt, fence, owner, extract(epoch FROM claimed_at)::float8 AS claimed_at,
  extract(epoch FROM finished_at)::float8 AS finished_at, outcome, reason, provider_id
FROM attempts"""

_EVIDENCE: Final = """
SELECT delivery_id, kind, source, provider_id, attempt, detail, weighed_at IS NOT NULL AS weighed
FROM evidence"""
_LOOK_UPS: Final = """
SELECT delivery_id, attempt, number, extract(epoch FROM asked_at)::float8 AS asked_at,
  extract(epoch FROM answered_at)::float8 AS answered_at, finding FROM look_ups"""
_WORDS: Final = """
SELECT delivery_id, extract(epoch FROM max(given_at))::float8 AS given_at
FROM words GROUP BY delivery_id"""


@dataclass
class Both:
    """Two ledgers at one time of one clock; each method fails where their answers differ."""

    pool: Pool
    async_pool: AsyncPool
    channel: str
    now: float = START
    claims: list[Claim] = field(default_factory=list)
    """All that were ever made."""
    tables: Tables = field(init=False)

    def __post_init__(self) -> None:
        self.tables = Tables(lambda: self.now)

    async def begin(self) -> None:
        """Empty the real ledger and set its clock."""
        with self.pool.connection() as connection:
            connection.execute("TRUNCATE alerts, turns CASCADE")
        await self.pass_time(0.0)

    async def pass_time(self, seconds: float) -> None:
        """Move the clock of both."""
        self.now += seconds
        setting = "SELECT set_config('aldebaran.now', to_timestamp(%s)::text, false)"
        with self.pool.connection() as connection:
            connection.execute(setting, (self.now,))
        async with self.async_pool.connection() as other:
            await other.execute(setting, (self.now,))

    def accept(self, batch: Sequence[NewAlert]) -> None:
        """Record alerts in both."""
        real, memory = Intake(self.pool).accept(batch), MemoryIntake(self.tables).accept(batch)
        assert _plain(real) == _plain(memory)

    def publish(self, delivery_ids: Sequence[str]) -> None:
        """Take deliveries out of both outboxes."""
        Outbox(self.pool).mark_published(delivery_ids)
        MemoryOutbox(self.tables).mark_published(delivery_ids)

    def outbox(self, after: str, older_than_seconds: float, limit: int) -> None:
        """Read both outboxes."""
        terms: dict[str, Any] = {
            "after": after,
            "older_than_seconds": older_than_seconds,
            "limit": limit,
        }
        real, memory = Outbox(self.pool), MemoryOutbox(self.tables)
        ids = [each.delivery_id for each in real.unpublished(**terms)]
        assert ids == [each.delivery_id for each in memory.unpublished(**terms)]
        assert _plain_entries(real.entries(ids)) == _plain_entries(memory.entries(ids))
        assert real.waiting(older_than_seconds) == memory.waiting(older_than_seconds)

    async def by_id(self, owner: str, ids: Sequence[str]) -> None:
        """Claim by id in both."""
        real = await self._real_claims(owner).by_id(ids, 100)
        self._claimed(real, self._memory_claims(owner).by_id(ids, 100))

    async def due(self, owner: str, due: Due) -> None:
        """Claim what is due; of those that are due equally long either may be taken."""
        waiting = [row for row in self.tables.rows.values() if row.state in SENDABLE]
        since = {row.delivery_id: row.next_attempt_at for row in waiting}
        real = await self._real_claims(owner).due(due)
        ids = [each.delivery_id for each in real]
        memory = self._memory_claims(owner)
        copy = replace(self.tables, rows={row.delivery_id: replace(row) for row in waiting})
        would = replace(memory, tables=replace(copy, attempts={})).due(due)
        assert sorted(since[each] for each in ids) == sorted(since[c.delivery_id] for c in would)
        self._claimed(real, memory.by_id(ids, due.limit))

    async def due_in_turn(self, owner: str, due: Due) -> None:
        """Claim what is due and can have turns soon, so many and in the same turns in both."""
        pace = Rate(
            self.async_pool, ManualClock(), channel=self.channel, per_second=PER_SECOND, burst=BURST
        )
        real = await pace.claim(self._real_claims(owner), due)
        memory, rows = self._memory_claims(owner), self.tables.rows
        copy = replace(self.tables, rows={key: replace(rows[key]) for key in rows}, attempts={})
        expected = MemoryRate(copy, self.channel, PER_SECOND, BURST)
        would = expected.claim(replace(memory, tables=copy), due)
        assert (len(real.claims), real.is_short) == (len(would.claims), would.is_short)
        given, in_turn = real.turns, would.turns
        assert given.in_seconds == pytest.approx(in_turn.in_seconds, abs=1e-5)
        assert given.more_in_seconds == pytest.approx(in_turn.more_in_seconds, abs=1e-5)
        ids = [each.delivery_id for each in real.claims]
        self._claimed(real.claims, memory.by_id(ids, due.limit))

    async def states(self, owner: str, ids: Sequence[str]) -> None:
        """Ask both which ids they know, and their states."""
        real = await self._real_claims(owner).states(ids)
        assert real == self._memory_claims(owner).states(ids)

    async def settle(self, owner: str, settlements: Sequence[Settlement]) -> None:
        """Record outcomes in both."""
        real = await self._real_claims(owner).settle(settlements)
        assert real == self._memory_claims(owner).settle(settlements)

    async def sweep(self, owner: str, known: Sequence[Fenced]) -> None:
        """Do the sweeps of time in both."""
        await self.ask(owner, known)
        real, memory = self._real_sweeps(owner), self._memory_sweeps(owner)
        lost = await real.lost(known)
        assert set(lost) == set(memory.lost(known))
        assert _by_id(await real.give_back(lost)) == _by_id(memory.give_back(lost))
        assert _by_id(await real.lease_over()) == _by_id(memory.lease_over())
        assert _by_id(await real.too_old()) == _by_id(memory.too_old())
        assert await real.standing() == memory.standing()

    async def ask(
        self, owner: str, known: Sequence[Fenced], deadline_seconds: float = 0.0, asked: int = -1
    ) -> None:
        """Ask both whether there is anything for a sweep."""
        real = await Occasions(
            self.async_pool, channel=self.channel, owner=owner, age_limit_seconds=AGE_LIMIT
        ).ask(known, deadline_seconds, asked)
        tables = self.tables
        memory = MemoryOccasions(
            self._memory_sweeps(owner), MemoryEvidence(tables), MemoryUntold(tables, self.channel)
        )
        assert real == memory.ask(known, deadline_seconds, asked)

    async def doubtful(self, owner: str, deadline_seconds: float, asked: int) -> list[Swept]:
        """Return rows whose time for evidence is over, by both."""
        await self.ask(owner, [], deadline_seconds, asked)
        real = await self._real_sweeps(owner).doubtful(deadline_seconds, asked)
        memory = self._memory_sweeps(owner).doubtful(deadline_seconds, asked)
        assert _by_id(real) == _by_id(memory)
        return real

    async def rule(self, owner: str, rulings: Sequence[Ruling]) -> None:
        """Move rows out of doubt in both."""
        real = await self._real_sweeps(owner).rule(rulings)
        assert real == self._memory_sweeps(owner).rule(rulings)

    async def give(self, evidence: Sequence[Evidence]) -> None:
        """Give evidence to both."""
        real = await AsyncEvidenceBook(self.async_pool).give(evidence)
        assert _sorted(real) == _sorted(MemoryEvidence(self.tables).give(evidence))

    async def weigh(self) -> None:
        """Weigh what has waited, in both."""
        real = await AsyncEvidenceBook(self.async_pool).weigh(self.channel)
        assert _sorted(real) == _sorted(MemoryEvidence(self.tables).weigh(self.channel))

    def word(self, word: Word) -> None:
        """Give a person's word to both."""
        assert self._taken(word) == MemoryWords(self.tables).give(word)

    def _taken(self, word: Word) -> bool:
        try:
            with self.pool.connection() as connection:
                give_on(connection, word)
        except Refused:
            return False
        return True

    async def tell(self) -> None:
        """Take what is untold from both."""
        real = await UntoldMoves(self.async_pool, self.channel).take()
        memory = MemoryUntold(self.tables, self.channel).take()
        assert sorted(real, key=repr) == sorted(memory, key=repr)

    async def look_up(self, owner: str, again_after_seconds: float, answered: bool) -> None:
        """Take the look-ups that are due from both, and answer them."""
        real = LookUps(
            self.async_pool, channel=self.channel, owner=owner, times_seconds=LOOK_UP_TIMES
        )
        memory = MemoryLookUps(self.tables, self.channel, LOOK_UP_TIMES)
        questions = await real.due(100, again_after_seconds)
        asked = memory.due(100, again_after_seconds)
        assert _plain_questions(questions) == _plain_questions(asked)
        for each in questions if answered else ():
            await real.answered(each, "seen")
            memory.answered(each, "seen")

    @contextmanager
    def rows(self) -> Iterator[psycopg.Cursor[dict[str, Any]]]:
        """Read what was committed; by the ledger's own connection, as a new one takes longer."""
        with self.pool.connection() as connection, connection.cursor(row_factory=dict_row) as rows:
            yield rows

    def check(self) -> None:
        """Compare every row of every table."""
        with self.rows() as rows:
            real = {row["delivery_id"]: row for row in rows.execute(_DELIVERIES)}
            tried = {(row["delivery_id"], row["attempt"]): row for row in rows.execute(_ATTEMPTS)}
            pieces = rows.execute(_EVIDENCE).fetchall()
            asked = rows.execute(_LOOK_UPS).fetchall()
            alerts = {row["alert_id"] for row in rows.execute("SELECT alert_id FROM alerts")}
            words = {row["delivery_id"]: row["given_at"] for row in rows.execute(_WORDS)}
        assert alerts == self.tables.alerts.keys()
        assert words == self.tables.words
        assert real.keys() == self.tables.rows.keys()
        for key, row in self.tables.rows.items():
            assert json.loads(real[key].pop("record")) == json.loads(row.record)
            assert real[key] == {name: getattr(row, name) for name in real[key]}
        assert tried.keys() == self.tables.attempts.keys()
        for (delivery_id, attempt), kept in self.tables.attempts.items():
            found = tried[delivery_id, attempt]
            del found["delivery_id"], found["attempt"]
            assert found == {name: getattr(kept, name) for name in found}

        self._check_evidence(pieces, asked)

    def _check_evidence(self, pieces: list[dict[str, Any]], asked: list[dict[str, Any]]) -> None:
        kept = {(*key, each.detail, each.weighed) for key, each in self.tables.pieces.items()}
        assert {tuple(row.values()) for row in pieces} == kept
        look_ups = {
            (*key, each.asked_at, each.answered_at, each.finding)
            for key, each in self.tables.look_ups.items()
        }
        assert {tuple(row.values()) for row in asked} == look_ups

    def _claimed(self, real: Sequence[Claim], memory: Sequence[Claim]) -> None:
        assert _claims_by_id(real) == _claims_by_id(memory)
        self.claims += memory

    def _real_claims(self, owner: str) -> Claims:
        return Claims(
            self.async_pool,
            channel=self.channel,
            owner=owner,
            lease_seconds=LEASE,
            age_limit_seconds=AGE_LIMIT,
        )

    def _memory_claims(self, owner: str) -> MemoryClaims:
        return MemoryClaims(self.tables, self.channel, owner, LEASE, AGE_LIMIT)

    def _real_sweeps(self, owner: str) -> Sweeps:
        return Sweeps(
            self.async_pool, channel=self.channel, owner=owner, age_limit_seconds=AGE_LIMIT
        )

    def _memory_sweeps(self, owner: str) -> MemorySweeps:
        return MemorySweeps(self.tables, self.channel, owner, AGE_LIMIT)


def _plain(accepted: Accepted) -> tuple[set[str], list[str], dict[str, str]]:
    left_over = [each.delivery_id for each in accepted.left_over]
    return accepted.new, left_over, accepted.unstorable


def _plain_entries(entries: Sequence[OutboxEntry]) -> list[tuple[str, str, Any]]:
    return [(each.delivery_id, each.channel, json.loads(each.value)) for each in entries]


def _sorted(applied: Sequence[Move]) -> list[Move]:
    return sorted(applied, key=lambda each: each.delivery_id)


def _plain_questions(questions: Sequence[Question]) -> list[Question]:
    plain = [replace(each, record="") for each in questions]
    return sorted(plain, key=lambda each: each.delivery_id)


def _by_id(rows: Sequence[Swept]) -> list[Swept]:
    return sorted(rows, key=lambda row: row.delivery_id)


def _claims_by_id(claims: Sequence[Claim]) -> list[tuple[Claim, Any]]:
    plain = [(replace(each, record=""), json.loads(each.record)) for each in claims]
    return sorted(plain, key=lambda each: each[0].delivery_id)
