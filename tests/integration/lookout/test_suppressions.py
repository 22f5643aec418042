"""What is suppressed at intake waits, is in no outbox and in nobody's claim, and comes out once."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import SecretStr

from services.backbone.ledger.alerts.intake import Intake, NewAlert, NewDelivery
from services.backbone.ledger.alerts.outbox import Outbox
from services.backbone.ledger.alerts.suppressions import (
    Kind,
    Moved,
    Ruling,
    Suppression,
    Suppressions,
    Waiting,
)
from services.backbone.ledger.database import Pool, async_pool
from services.backbone.ledger.deliveries.claims import Claim, Claims
from services.backbone.settings import LedgerSettings
from services.contracts.ids import delivery_id
from services.contracts.records import Alert, Delivery
from services.contracts.states import State
from tests.unit.lookout.samples import sample

pytestmark = pytest.mark.postgres

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
FAR = datetime(2099, 1, 1, tzinfo=UTC)


def quiet(until: datetime) -> Suppression:
    return Suppression(Kind.QUIET, "nights", until, "quiet hours")


def group(until: datetime, limit: int = 3) -> Suppression:
    return Suppression(Kind.GROUP, "all", until, "grouped", group_key="g", group_limit=limit)


def recorded(intake: Intake, alert: Alert, waits: Suppression | None) -> Delivery:
    """Record an alert with one delivery."""
    delivery = Delivery(
        delivery_id=delivery_id(alert.alert_id, "email", "a@example.com"),
        channel="email",
        recipient="a@example.com",
        subject=alert.summary,
        text=alert.summary,
        created_at_ms=1,
        alert=alert,
    )
    new = NewDelivery(delivery, delivery.encode(), b'{"route":"r"}', waits)
    intake.accept([NewAlert(alert, alert.encode(), "r", (new,), b'{"at":1}', ("k1", "k2"))])
    return delivery


def stored(outbox: Outbox, moved: Moved) -> Delivery:
    """Return what the outbox has of a delivery that was released."""
    (entry,) = outbox.entries([moved.delivery_id])
    assert len(entry.value) == moved.size_bytes
    return Delivery.decode(entry.value)


def claimed(url: str, *ids: str) -> list[Claim]:
    async def claim() -> list[Claim]:
        async with async_pool(LedgerSettings(postgres_url=SecretStr(url))) as pool:
            claims = Claims(
                pool, channel="email", owner="o", lease_seconds=30, age_limit_seconds=1e9
            )
            return await claims.by_id(ids, 100)

    return asyncio.run(claim())


def release(_: datetime, rows: Sequence[Waiting]) -> list[Ruling]:
    return [Ruling(each, State.PENDING, "test", "over") for each in rows]


def test_what_waits_is_recorded_but_neither_published_nor_claimed(
    pool: Pool, intake: Intake, outbox: Outbox, ledger_url: str
) -> None:
    waiting = recorded(intake, sample(1), quiet(FAR))
    free = recorded(intake, sample(2), None)
    assert outbox.waiting() == 1
    found = outbox.unpublished(after="", older_than_seconds=0, limit=10)
    assert [each.delivery_id for each in found] == [free.delivery_id]
    again = intake.accept([NewAlert(sample(1), sample(1).encode(), "r", ())])
    assert again.left_over == []
    assert [each.delivery_id for each in claimed(ledger_url, waiting.delivery_id)] == []
    with pool.connection() as connection:
        query = """SELECT d.state, d.suppressed_by, d.reason, d.next_attempt_at, d.plan,
          a.decision, a.inhibits FROM deliveries d JOIN alerts a USING (alert_id)
          WHERE delivery_id = %s"""
        row = connection.execute(query, (waiting.delivery_id,)).fetchone()
    why = ("SUPPRESSED", "quiet:nights", "quiet hours", FAR)
    assert row == (*why, {"route": "r"}, {"at": 1}, ["k1", "k2"])


def test_what_is_due_is_released_once_into_the_outbox(
    pool: Pool, intake: Intake, outbox: Outbox, ledger_url: str
) -> None:
    due = recorded(intake, sample(1), quiet(LONG_AGO))
    recorded(intake, sample(2), quiet(FAR))
    suppressions = Suppressions(pool)
    (moved,) = suppressions.judge_due(release)
    assert (moved.delivery_id, moved.before, moved.after) == (
        due.delivery_id,
        State.SUPPRESSED,
        State.PENDING,
    )
    assert stored(outbox, moved) == due
    assert suppressions.judge_due(release) == []
    assert outbox.waiting() == 1
    assert len(claimed(ledger_url, due.delivery_id)) == 1
    with pool.connection() as connection:
        rows = connection.execute("SELECT delivery_id, stage, decided, why FROM decisions")
        assert rows.fetchall() == [(due.delivery_id, "test", "PENDING", "over")]


def test_a_ruling_misses_a_row_that_somebody_has_claimed_meanwhile(
    pool: Pool, intake: Intake, ledger_url: str
) -> None:
    sent = recorded(intake, sample(1), None)

    def late(now: datetime, rows: Sequence[Waiting]) -> list[Ruling]:
        assert len(claimed(ledger_url, sent.delivery_id)) == 1
        waits = quiet(now + timedelta(hours=1))
        return [Ruling(each, State.SUPPRESSED, "test", "late", waits) for each in rows]

    assert Suppressions(pool).judge_next_to_send(["email"], 2.0, late) == []


def test_a_group_is_judged_whole_when_it_is_full_or_its_window_is_over(
    pool: Pool, intake: Intake, outbox: Outbox
) -> None:
    seen: list[int] = []

    def digest(_: datetime, rows: Sequence[Waiting]) -> list[Ruling]:
        seen.append(len(rows))
        carrier, *others = rows
        told = [Ruling(each, State.CLOSED, "test", "told", digest_id="c") for each in others]
        message = ("3 alerts", "all of them")
        return [Ruling(carrier, State.PENDING, "test", "digest", message=message), *told]

    for number in range(2):
        recorded(intake, sample(number), group(FAR))
    assert Suppressions(pool).judge_groups(digest) == []
    for number in range(2, 4):
        recorded(intake, sample(number), group(FAR))
    moved = Suppressions(pool).judge_groups(digest)
    assert [each.after for each in moved].count(State.CLOSED) == 2
    (carrier,) = [each for each in moved if each.after is State.PENDING]
    assert stored(outbox, carrier).subject == "3 alerts"
    recorded(intake, sample(4), group(LONG_AGO))
    Suppressions(pool).judge_groups(digest)
    assert seen == [3, 2], "what came after the limit waits for its own window"
    assert outbox.waiting() == 2
