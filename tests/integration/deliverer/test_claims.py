"""Claims, settlements and sweeps on a real Postgres."""

from collections.abc import AsyncIterator

import pytest

from services.backbone.ledger.database import AsyncPool, async_pool
from services.backbone.ledger.deliveries.claims import (
    CLAIM_LIMIT_CHARACTERS,
    Claim,
    Claims,
    Due,
    Settlement,
    is_cut,
)
from services.backbone.ledger.deliveries.sweeps import Ruling, Sweeps
from services.backbone.settings import LedgerSettings
from services.contracts.records import Delivery
from services.contracts.states import State
from tests.integration.deliverer.ledgers import Ledger
from tests.unit.deliverer.builders import delivery, long_delivery

pytestmark = pytest.mark.postgres

LONG = 3600.0


@pytest.fixture
async def pool(ledger: Ledger) -> AsyncIterator[AsyncPool]:
    async with async_pool(LedgerSettings.model_validate({"postgres_url": ledger.url})) as pool:
        yield pool


def claims_of(pool: AsyncPool, owner: str = "one", lease: float = LONG) -> Claims:
    return Claims(pool, channel="webhook", owner=owner, lease_seconds=lease, age_limit_seconds=LONG)


def sweeps_of(pool: AsyncPool, owner: str = "one", age_limit: float = LONG) -> Sweeps:
    return Sweeps(pool, channel="webhook", owner=owner, age_limit_seconds=age_limit)


def settled(claim: Claim, after: State, late: State | None = None, wait: float = 0) -> Settlement:
    return Settlement(claim.delivery_id, claim.fence, after, after, late, wait, "why", "theirs")


async def test_a_due_delivery_is_claimed_once(ledger: Ledger, pool: AsyncPool) -> None:
    one = delivery(1)
    ledger.add(one)
    (claim,) = await claims_of(pool).by_id([one.delivery_id], 10)
    assert (claim.before, claim.attempt, claim.fence) == (State.PENDING, 1, 1)
    assert Delivery.decode(claim.record.encode()) == one
    assert await claims_of(pool, "two").by_id([one.delivery_id], 10) == []
    assert await claims_of(pool, "two").due(Due(10)) == []
    assert ledger.row(one)["owner"] == "one"
    assert [row["finished_at"] for row in ledger.attempts(one)] == [None]


async def test_a_claim_tells_what_has_waited_on_purpose(ledger: Ledger, pool: AsyncPool) -> None:
    soon, held_back, step = (delivery(1, recipient=each) for each in ("soon", "held", "step"))
    ledger.add(soon, held_back, step)
    released = (
        "UPDATE deliveries SET created_at = created_at - interval '9 min' WHERE recipient = %s"
    )
    asked = """UPDATE deliveries SET plan = '{"asked_at_ms": 1}' WHERE recipient = %s"""
    ledger.execute(released, held_back.recipient)
    ledger.execute(asked, step.recipient)
    told = [each.delivery_id for each in (soon, held_back, step)]
    claimed = await claims_of(pool).by_id(told, 10)
    assert [each.delivery_id for each in claimed if each.at_once] == [soon.delivery_id]
    assert len(claimed) == len(told)


async def test_told_twice_in_one_batch_it_is_claimed_once(ledger: Ledger, pool: AsyncPool) -> None:
    one, other = delivery(1), delivery(2)
    ledger.add(one, other)
    told = [one.delivery_id, other.delivery_id, one.delivery_id, one.delivery_id]
    claims = await claims_of(pool).by_id(told, 10)
    assert sorted(each.delivery_id for each in claims) == sorted(set(told))


async def test_due_deliveries_come_longest_overdue_first_and_bounded(
    ledger: Ledger, pool: AsyncPool
) -> None:
    added = [delivery(n) for n in range(5)]
    ledger.add(*added)
    ledger.execute(
        "UPDATE deliveries SET next_attempt_at = created_at - interval '1 hour'"
        " WHERE delivery_id = %s",
        added[3].delivery_id,
    )
    (first,) = await claims_of(pool).due(Due(1))
    assert first.delivery_id == added[3].delivery_id
    assert len(await claims_of(pool).due(Due(10))) == 4


async def test_a_claim_ends_once_its_records_are_long(ledger: Ledger, pool: AsyncPool) -> None:
    added = [long_delivery(n, CLAIM_LIMIT_CHARACTERS // 5 + 1) for n in range(14)]
    ledger.add(*added)
    claims = claims_of(pool)
    told = [each.delivery_id for each in added]
    by_id, due = await claims.by_id(told, 10), await claims.due(Due(10))
    assert (len(by_id), is_cut(by_id)) == (5, True)
    assert (len(due), is_cut(due)) == (5, True)
    rest = await claims.due(Due(10, without=["another"]))
    assert (len(rest), is_cut(rest)) == (4, False)
    assert {each.delivery_id for each in (*by_id, *due, *rest)} == set(told)
    assert Delivery.decode(due[0].record.encode()) in added


async def test_of_long_records_a_claim_takes_what_it_has_room_for(
    ledger: Ledger, pool: AsyncPool
) -> None:
    added = [long_delivery(n, 10_000) for n in range(9)]
    ledger.add(*added)
    claims, told = claims_of(pool), [each.delivery_id for each in added]
    by_id = await claims.by_id(told, 9, 15_000)
    due = await claims.due(Due(9, characters=25_000))
    rest = await claims.due(Due(9, without=["another"], characters=1))
    assert [len(by_id), len(due), len(rest)] == [2, 3, 1]
    assert [is_cut(by_id, 15_000), is_cut(due, 25_000), is_cut(rest, 1)] == [True] * 3


async def test_recipients_can_be_picked_and_left_out(ledger: Ledger, pool: AsyncPool) -> None:
    added = [delivery(1, recipient=name) for name in ("a", "b", "c")]
    ledger.add(*added)
    assert [each.recipient for each in await claims_of(pool).due(Due(9, only=["b"]))] == ["b"]
    assert [each.recipient for each in await claims_of(pool).due(Due(9, without=["a"]))] == ["c"]


async def test_other_channels_and_what_is_not_due_or_too_old_stay(
    ledger: Ledger, pool: AsyncPool
) -> None:
    other, later, old = delivery(1, channel="email"), delivery(2), delivery(3)
    ledger.add(other, later, old)
    ledger.execute(
        "UPDATE deliveries SET next_attempt_at = now() + interval '1 hour' WHERE delivery_id = %s",
        later.delivery_id,
    )
    ledger.execute(
        "UPDATE deliveries SET created_at = now() - interval '2 hours' WHERE delivery_id = %s",
        old.delivery_id,
    )
    ids = [each.delivery_id for each in (other, later, old)]
    assert await claims_of(pool).by_id(ids, 10) == []
    assert await claims_of(pool).due(Due(10)) == []
    waiting = {later.delivery_id: State.PENDING, old.delivery_id: State.PENDING}
    assert await claims_of(pool).states(ids) == waiting
    (swept,) = await sweeps_of(pool).too_old()
    assert (swept.delivery_id, swept.before) == (old.delivery_id, State.PENDING)
    assert ledger.row(old)["state"] == State.HELD


async def test_an_outcome_is_recorded_only_by_its_own_claim(
    ledger: Ledger, pool: AsyncPool
) -> None:
    one = delivery(1)
    ledger.add(one)
    mine = claims_of(pool)
    (claim,) = await mine.by_id([one.delivery_id], 1)
    sent = settled(claim, State.SENT)
    stale = Settlement(claim.delivery_id, claim.fence - 1, State.FAILED, State.FAILED, None)
    assert await claims_of(pool, "two").settle([sent]) == {}
    assert await mine.settle([stale]) == {}
    assert ledger.row(one)["state"] == State.CLAIMED
    assert await mine.settle([sent]) == {one.delivery_id: State.CLAIMED}
    row = ledger.row(one)
    assert (row["state"], row["provider_id"], row["lease_until"]) == ("SENT", "theirs", None)
    assert [row["outcome"] for row in ledger.attempts(one)] == ["SENT"]
    assert await mine.settle([sent]) == {}


async def test_a_claim_whose_lease_is_over_is_in_doubt_and_never_claimed(
    ledger: Ledger, pool: AsyncPool
) -> None:
    one = delivery(1)
    ledger.add(one)
    dead = claims_of(pool, "dead", lease=0.0)
    (claim,) = await dead.by_id([one.delivery_id], 1)
    (swept,) = await sweeps_of(pool).lease_over()
    assert (swept.before, swept.severity, swept.attempt) == (State.CLAIMED, one.alert.severity, 1)
    assert ledger.row(one)["state"] == State.IN_DOUBT
    assert [row["outcome"] for row in ledger.attempts(one)] == ["IN_DOUBT"]
    assert await claims_of(pool).due(Due(10)) == []
    late = settled(claim, State.SENT, late=State.SENT)
    assert await dead.settle([late]) == {one.delivery_id: State.IN_DOUBT}
    assert ledger.row(one)["state"] == State.SENT
    assert [row["outcome"] for row in ledger.attempts(one)] == ["SENT"]


async def test_a_late_answer_that_is_no_evidence_moves_nothing(
    ledger: Ledger, pool: AsyncPool
) -> None:
    one = delivery(1)
    ledger.add(one)
    dead = claims_of(pool, "dead", lease=0.0)
    (claim,) = await dead.by_id([one.delivery_id], 1)
    await sweeps_of(pool).lease_over()
    assert await dead.settle([settled(claim, State.FAILED)]) == {}
    assert ledger.row(one)["state"] == State.IN_DOUBT
    assert [row["outcome"] for row in ledger.attempts(one)] == ["FAILED"]


async def test_doubts_are_ruled_once(ledger: Ledger, pool: AsyncPool) -> None:
    one = delivery(1)
    ledger.add(one)
    await claims_of(pool, lease=0.0).by_id([one.delivery_id], 1)
    sweeps = sweeps_of(pool)
    await sweeps.lease_over()
    assert await sweeps.doubtful(LONG) == []
    (row,) = await sweeps.doubtful(0.0)
    ruling = Ruling(row.delivery_id, row.fence, State.RETRY_WAIT, True, "repeated with a mark")
    assert await sweeps.rule([ruling]) == {one.delivery_id}
    assert await sweeps.rule([ruling]) == set()
    (again,) = await claims_of(pool).due(Due(10))
    assert (again.marked_repeat, again.attempt, again.fence) == (True, 2, 2)


async def test_own_claims_that_nobody_sends_are_given_back(ledger: Ledger, pool: AsyncPool) -> None:
    known, lost, foreign = (delivery(n) for n in range(3))
    ledger.add(known, lost, foreign)
    await claims_of(pool).by_id([known.delivery_id, lost.delivery_id], 2)
    await claims_of(pool, "two").by_id([foreign.delivery_id], 1)
    sweeps = sweeps_of(pool)
    (found,) = await sweeps.lost([(known.delivery_id, 1)])
    assert found == (lost.delivery_id, 1)
    (swept,) = await sweeps.give_back([found])
    assert swept.delivery_id == lost.delivery_id
    assert [ledger.row(each)["state"] for each in (known, lost, foreign)] == [
        State.CLAIMED,
        State.RETRY_WAIT,
        State.CLAIMED,
    ]


async def test_own_claims_whose_answer_comes_after_their_lease_are_given_back_too(
    ledger: Ledger, pool: AsyncPool
) -> None:
    lost, foreign = delivery(1), delivery(2)
    ledger.add(lost, foreign)
    await claims_of(pool).by_id([lost.delivery_id], 1)
    await claims_of(pool, "two").by_id([foreign.delivery_id], 1)
    ledger.end_leases()
    sweeps = sweeps_of(pool)
    await sweeps.give_back(await sweeps.lost([]))
    await sweeps.lease_over()
    assert ledger.row(lost)["state"] == State.RETRY_WAIT
    assert ledger.row(foreign)["state"] == State.IN_DOUBT


async def test_giving_back_late_touches_no_newer_claim(ledger: Ledger, pool: AsyncPool) -> None:
    one = delivery(1)
    ledger.add(one)
    claims, sweeps = claims_of(pool), sweeps_of(pool)
    await claims.by_id([one.delivery_id], 1)
    lost = await sweeps.lost([])
    assert len(await sweeps.give_back(lost)) == 1
    await claims.by_id([one.delivery_id], 1)
    assert await sweeps.give_back(lost) == []
    assert ledger.row(one)["state"] == State.CLAIMED


async def test_what_is_open_is_counted(ledger: Ledger, pool: AsyncPool) -> None:
    sweeps = sweeps_of(pool)
    assert (await sweeps.standing()).overdue_seconds == 0
    doubtful, held, due = (delivery(n) for n in range(3))
    ledger.add(doubtful, held, due)
    await claims_of(pool, lease=0.0).by_id([doubtful.delivery_id, held.delivery_id], 2)
    await sweeps.lease_over()
    await sweeps.rule([Ruling(held.delivery_id, 1, State.HELD, False, "")])
    standing = await sweeps.standing()
    assert (standing.in_doubt, standing.held, standing.due) == (1, 1, 1)
    assert standing.overdue_seconds > 0
