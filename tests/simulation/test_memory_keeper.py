"""What keepers ask of the ledger is in memory what it is in Postgres, statement by statement.

Goal and method as in test_memory_ledger.py: the same random commands to both, on a clock that the
test moves; every answer and every row must be equal after each.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

import orjson
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from services.backbone.ledger.alerts.decisions import Decision
from services.backbone.ledger.alerts.escalations import Due, Turn
from services.backbone.ledger.alerts.fallbacks import Lost, Next, Rest
from services.backbone.ledger.alerts.intake import NewAlert, NewDelivery
from services.backbone.ledger.alerts.later import Earlier
from services.backbone.ledger.alerts.steps import NewStep
from services.backbone.ledger.alerts.suppressions import Judge, Kind, Ruling, Suppression, Waiting
from services.backbone.ledger.alerts.told import Told
from services.backbone.ledger.database import async_pool, open_pool
from services.backbone.ledger.deliveries.claims import Settlement
from services.backbone.ledger.deliveries.evidence import Evidence, EvidenceKind
from services.backbone.ledger.operators.words import RESEND, Word
from services.backbone.ledger.schema import migrate
from services.backbone.settings import LedgerSettings
from services.contracts.ids import delivery_id
from services.contracts.records import Delivery
from services.contracts.states import State, may_move
from tests.simulation.memory.comparing import AGE_LIMIT, START, Both
from tests.simulation.memory.comparing_keeper import BothKeepers
from tests.simulation.memory.suppressions import moment
from tests.simulation.memory.words import CLOSE
from tests.unit.deliverer.builders import delivery

pytestmark = pytest.mark.postgres

RECIPIENTS: Final = ("someone", "another")
GROUPS: Final = tuple(
    tuple(delivery(number, recipient=to) for to in RECIPIENTS[: 1 + number % 2])
    for number in range(4)
)
IDS: Final = tuple(each.delivery_id for group in GROUPS for each in group)
WAITS: Final = (0.0, 1.0, 10.0, 31.0, 61.0)
WAYS: Final = ("due", "ended", "page", "groups", "next", "backlog")
NAMES: Final = (
    *("accept", "accept", "silence", "end", "standing", "acknowledge", "wait", "wait"),
    *("judge", "judge", "judge", "judge", "groups", "escalate", "fall_back"),
    *("claim", "settle", "settle", "publish", "evidence", "evidence", "word"),
)
PLAN: Final = {
    "route": "r",
    "fallback": [{"channel": "webhook", "recipient": "third"}],
    "grouping": {"by": []},
}


@pytest.fixture
def migrated(empty_database: str) -> str:
    migrate(LedgerSettings.model_validate({"postgres_url": empty_database}))
    return empty_database


@settings(
    max_examples=40,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    commands=st.lists(
        st.tuples(st.sampled_from(NAMES), *[st.integers(0, 63)] * 3), min_size=10, max_size=40
    )
)
def test_every_statement_of_keepers_does_the_same_in_memory(
    migrated: str, commands: list[tuple[str, int, int, int]]
) -> None:
    asyncio.run(_history(migrated, commands))


@pytest.mark.parametrize(
    ("kind", "after"),
    [
        (EvidenceKind.TAKEN, State.SENT),
        (EvidenceKind.CONFIRMED, State.CONFIRMED),
        (EvidenceKind.UNDELIVERED, State.FAILED),
        (EvidenceKind.ABSENT, State.PENDING),
    ],
)
async def test_evidence_moves_in_both_what_was_tried_silenced_and_released(
    migrated: str, kind: EvidenceKind, after: State
) -> None:
    async with two_ledgers(migrated) as keepers:
        both, key = keepers.both, IDS[0]
        await _try_first(both, retry_in_seconds=0.0)
        keepers.judge("next", "", _silence)
        keepers.judge("due", "", _release)
        row = both.tables.rows[key]
        assert (row.state, row.attempt) == (State.PENDING, 1)
        await both.give([Evidence(key, kind, "callback", "p", attempt=1)])
        both.check()
        assert row.state is after


@pytest.mark.parametrize("times", [1, 2, 3])
async def test_what_waits_for_its_retry_waits_on_however_often_it_is_silenced_and_released(
    migrated: str, times: int
) -> None:
    async with two_ledgers(migrated) as keepers:
        both, key = keepers.both, IDS[0]
        await _try_first(both, retry_in_seconds=60.0)
        for _ in range(times):
            keepers.judge("backlog", "", _silence)
            keepers.judge("due", "", _release)
        await both.pass_time(59.0)
        await both.by_id("b", [key])
        assert len(both.claims) == 1
        await both.pass_time(2.0)
        await both.by_id("b", [key])
        both.check()
        assert [claim.attempt for claim in both.claims] == [1, 2]


async def test_a_message_after_intake_is_as_old_as_it_is_late(migrated: str) -> None:
    async with two_ledgers(migrated) as keepers:
        both = keepers.both
        both.accept([_new(GROUPS[0], 0, 1)])
        for seconds in (AGE_LIMIT + 5.0, 10.0):
            await both.pass_time(seconds)
            keepers.escalate(lambda due, earlier: _turn(due, earlier, 1))
        await both.sweep("b", [])
        open_ones = [row for row in both.tables.rows.values() if row.state is not State.HELD]
        assert [(row.recipient, row.repetition) for row in open_ones] == [("another", 1)]
        both.check()


async def test_what_a_person_sends_again_is_not_judged_nor_ever_too_old(migrated: str) -> None:
    async with two_ledgers(migrated) as keepers:
        both, key = keepers.both, IDS[0]
        await _try_first(both, retry_in_seconds=0.0)
        await both.pass_time(AGE_LIMIT + 5.0)
        await both.sweep("b", [])
        assert both.tables.rows[key].state is State.HELD
        both.word(Word(key, RESEND, "ann", "so"))
        for way in ("next", "backlog"):
            keepers.judge(way, "", _silence)
        await both.sweep("b", [])
        assert both.tables.rows[key].state is State.RETRY_WAIT
        await both.by_id("b", [key])
        both.check()
        assert [claim.attempt for claim in both.claims] == [1, 2]


async def test_what_waits_beside_a_failure_is_shown_alike_alone_and_in_a_digest(
    migrated: str,
) -> None:
    async with two_ledgers(migrated) as keepers:
        both, groups = keepers.both, (GROUPS[1], GROUPS[3])
        both.accept([_new(group, 0, 0) for group in groups])
        await both.by_id("a", [group[0].delivery_id for group in groups])
        first, second = both.claims
        lost = (State.FAILED, State.FAILED)
        await both.settle("a", [Settlement(first.delivery_id, first.fence, *lost, None)])
        keepers.fall_back(_follow)
        keepers.judge("page", "", lambda now, rows: _digest(rows))
        keepers.judge("next", "", _silence)
        await both.settle("a", [Settlement(second.delivery_id, second.fence, *lost, None)])
        keepers.fall_back(_follow)
        keepers.check()
        beside = [each.decided for each in both.tables.decisions if each.stage == "test"]
        assert ["another" in each for each in beside] == [True, True]
        assert ["grouping" in each for each in beside] == [True, False]


async def test_what_a_person_has_closed_is_as_it_was_for_what_follows_a_failure(
    migrated: str,
) -> None:
    async with two_ledgers(migrated) as keepers:
        both, (lost, closed) = keepers.both, GROUPS[1]
        both.accept([_new(GROUPS[1], 0, 0)])
        keepers.judge("page", "", _release)
        await both.by_id("a", [lost.delivery_id, closed.delivery_id])
        await both.settle("a", _settlements(both, 1, 1))
        both.word(Word(closed.delivery_id, CLOSE, "ann", "so"))
        keepers.fall_back(_follow)
        keepers.check()
        why = both.tables.decisions[-1].why
        assert why.startswith("reached [], failed")
        assert "another" in why


async def _try_first(both: Both, retry_in_seconds: float) -> None:
    """Let the first delivery be there, be tried and have to be tried again."""
    key = IDS[0]
    both.accept([_new(GROUPS[0], 0, 0)])
    await both.by_id("a", [key])
    again = (State.RETRY_WAIT, State.RETRY_WAIT)
    tried = Settlement(key, both.claims[0].fence, *again, None, retry_in_seconds)
    await both.settle("a", [tried])


@asynccontextmanager
async def two_ledgers(url: str) -> AsyncIterator[BothKeepers]:
    """Begin with both ledgers empty."""
    one = LedgerSettings.model_validate({"postgres_url": url, "postgres_pool_size": 1})
    with open_pool(one) as pool:
        async with async_pool(one) as waiting_pool:
            keepers = BothKeepers(Both(pool, waiting_pool, "webhook"))
            await keepers.both.begin()
            keepers.begin()
            yield keepers


async def _history(url: str, commands: Sequence[tuple[str, int, int, int]]) -> None:
    async with two_ledgers(url) as keepers:
        for command in (("accept", 15, 0, 0), *commands):
            await _give(keepers, *command)
            keepers.both.check()
            keepers.check()


async def _give(keepers: BothKeepers, name: str, some: int, other: int, third: int) -> None:
    both = keepers.both
    match name:
        case "accept":
            chosen = [group for bit, group in enumerate(GROUPS) if some >> bit & 1]
            both.accept([_new(group, other + bit, third) for bit, group in enumerate(chosen)])
        case "wait":
            await both.pass_time(WAITS[some % len(WAITS)])
        case "claim":
            await both.by_id("a", IDS)
        case "settle":
            await both.settle("a", _settlements(both, some, other))
        case "publish":
            both.publish(IDS[some % len(IDS) :])
        case "evidence":
            await both.give([_piece(some, other, third)])
        case "word":
            both.word(Word(IDS[some % len(IDS)], (RESEND, CLOSE)[other % 2], "ann", "so"))
        case "judge" | "groups":
            way = WAYS[some % len(WAYS)] if name == "judge" else name
            keepers.judge(way, IDS[third % len(IDS)] if third % 2 else "", _judge(other))
        case _:
            _look_after(keepers, name, some, other)


def _look_after(keepers: BothKeepers, name: str, some: int, other: int) -> None:
    alert_id = GROUPS[some % len(GROUPS)][0].alert.alert_id if some % 7 else "0" * 32
    match name:
        case "silence":
            keepers.silence(f"s{some % 3}", WAITS[other % 3], WAITS[some % len(WAITS)])
        case "end":
            keepers.end(f"s{some % 3}")
        case "standing":
            keepers.standing()
        case "acknowledge":
            keepers.acknowledge(alert_id, ("ann", "bob")[other % 2], ("", "a fan", "so")[other % 3])
        case "escalate":
            keepers.escalate(lambda due, earlier: _turn(due, earlier, some))
        case _:
            keepers.fall_back(_follow)


def _new(group: tuple[Delivery, ...], some: int, third: int) -> NewAlert:
    alert = group[0].alert
    deliveries = tuple(
        NewDelivery(each, each.encode(), orjson.dumps(PLAN), _waits(moment(START), some + place))
        for place, each in enumerate(group)
    )
    steps = tuple(NewStep("desk", step, 5.0 + step, b'{"n":1}') for step in range(third % 3))
    inhibits = ("k1", "k2")[: some % 3]
    new = NewAlert(alert, alert.encode(), "test", deliveries)
    return replace(new, inhibits=inhibits, steps=steps)


def _waits(now: datetime, some: int) -> Suppression | None:
    until = now + timedelta(seconds=WAITS[some % len(WAITS)])
    match some % 4:
        case 0:
            return None
        case 1:
            return Suppression(Kind.SILENCE, f"s{some % 3}", until, "silenced")
        case 2:
            return Suppression(Kind.QUIET, "nights", until, "quiet")
        case _:
            key = f"g{some % 8 // 4}"
            return Suppression(Kind.GROUP, "r", until, "grouped", key, 2 + some % 2)


def _silence(now: datetime, rows: Sequence[Waiting]) -> list[Ruling]:
    waits = Suppression(Kind.SILENCE, "s", now, "silenced")
    return [Ruling(row, State.SUPPRESSED, "judge", waits.why, waits) for row in rows]


def _release(now: datetime, rows: Sequence[Waiting]) -> list[Ruling]:
    return [Ruling(row, State.PENDING, "judge", "released") for row in rows]


def _judge(some: int) -> Judge:
    def judge(now: datetime, rows: Sequence[Waiting]) -> list[Ruling]:
        going = [row for row in rows if row.state is State.SUPPRESSED and row.attempt == 0]
        if some % 3 == 0 and len({row.channel for row in going}) == 1 and len(going) > 1:
            return _digest(sorted(going, key=lambda row: row.delivery_id))
        found = (_ruling(now, row, int(row.delivery_id[:4], 16) + some) for row in rows)
        return [each for each in found if each is not None]

    return judge


def _digest(rows: Sequence[Waiting]) -> list[Ruling]:
    carrier, *others = rows
    own = carrier.delivery_id
    message = (f"{len(rows)} alerts", "all of them")
    return [
        Ruling(carrier, State.PENDING, "digest", "tells all", digest_id=own, message=message),
        *(Ruling(row, State.CLOSED, "digest", "told", digest_id=own) for row in others),
    ]


def _ruling(now: datetime, row: Waiting, some: int) -> Ruling | None:
    if some % 5 == 0:
        return None
    if waits := _waits(now, some):
        return Ruling(row, State.SUPPRESSED, "judge", waits.why, waits)
    after = (State.PENDING, State.CLOSED, State.HELD)[some % 3]
    return Ruling(row, after, "judge", "so") if may_move(row.state, after) else None


def _settlements(both: Both, some: int, other: int) -> list[Settlement]:
    after = (State.SENT, State.FAILED, State.RETRY_WAIT)[other % 3]
    told = {
        claim.delivery_id: Settlement(
            claim.delivery_id, claim.fence, after, after, None, float(some % 3), "so", "p"
        )
        for claim in both.claims[-1 - some % 6 :][:3]
    }
    return list(told.values())


def _piece(some: int, other: int, third: int) -> Evidence:
    kind = tuple(EvidenceKind)[other % 4]
    attempt = max(third % 3, int(kind is EvidenceKind.ABSENT))
    return Evidence(IDS[some % len(IDS)], kind, "callback", ("", "p")[third % 2], "", attempt)


def _message(record: str, recipient: str, number: int, asked_at: datetime | None) -> NewDelivery:
    about: dict[str, Any] = orjson.loads(record)
    base = delivery(int(about["key"]["number"]), recipient=recipient)
    named = delivery_id(base.alert.alert_id, "webhook", recipient, number)
    found = base.alert.model_copy(update={"detected_at_ms": int(START * 1000)})
    made = base.model_copy(update={"delivery_id": named, "repetition": number, "alert": found})
    asked = {"asked_at_ms": int(asked_at.timestamp() * 1000)} if asked_at else {}
    return NewDelivery(made, made.encode(), orjson.dumps({"route": "r"} | asked), None)


def _turn(due: Due, earlier: Earlier, some: int) -> Turn:
    if due.acknowledged:
        return Turn(ended=True, decisions=(_decision(due.alert_id, None, "ended"),))
    to = (due.alert_id, "webhook", RECIPIENTS[some % 2])
    made = _message(due.record, to[2], earlier.next(to), due.due_at)
    made = replace(made, suppression=_waits(due.now, some // 2))
    beside = _sorted(earlier.waiting.get(to, ()))
    told = _decision(due.alert_id, made.delivery.delivery_id, f"told beside {beside}")
    return Turn((made,), (told,), (None, 10.0)[due.repetition < some % 3])


def _sorted(plans: Sequence[dict[str, Any]]) -> list[bytes]:
    return sorted(orjson.dumps(each, option=orjson.OPT_SORT_KEYS) for each in plans)


def _follow(lost: Lost, told: Told) -> Next:
    if lost.acknowledged:
        return Next(_decision(lost.alert_id, lost.delivery_id, "not needed"))
    named = delivery_id(lost.alert_id, "webhook", "third", lost.repetition)
    if named in told.ids:
        rest = Rest(named, (("webhook", "fourth"),))
        told_already = _decision(lost.alert_id, lost.delivery_id, "already told")
        return Next(told_already, exhausted=True, rest=rest)
    record = orjson.dumps(orjson.loads(lost.record)["alert"]).decode()
    members = [sorted(orjson.loads(each)) for each in lost.members]
    beside = sorted((to, _sorted(plans)) for to, plans in told.waiting.items())
    decided = _decision(lost.alert_id, lost.delivery_id, f"next of {members} beside {beside}")
    decided = replace(decided, why=f"reached {sorted(told.reached)}, failed {sorted(told.failed)}")
    return Next(decided, _message(record, "third", lost.repetition, lost.tried_at))


def _decision(alert_id: str, named: str | None, decided: str) -> Decision:
    return Decision(alert_id, named, "test", decided, "why")
