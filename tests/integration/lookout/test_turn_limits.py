"""A turn that judges in one transaction takes no more than it has time for; the next goes on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest

from services.backbone.ledger.alerts.decisions import Decision
from services.backbone.ledger.alerts.escalations import Due, Escalations, Turn
from services.backbone.ledger.alerts.later import Earlier
from services.backbone.ledger.alerts.suppressions import (
    FIRST,
    HELD_AGAINST_LIMIT,
    Kind,
    Ruling,
    Suppression,
    Suppressions,
    Waiting,
)
from services.backbone.ledger.database import Pool
from services.backbone.ledger.operators.silences import NewSilence, Silences
from services.contracts.records import Alert
from services.contracts.states import State
from tests.integration.lookout.later_rows import message, record, step
from tests.unit.lookout.samples import sample

pytestmark = pytest.mark.postgres

DIGESTS, MEMBERS, LIMIT = 10, 1000, 5000
CHANNELS: Final = ("email", "sms")
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
# All tell one alert, each member to somebody else: what counts is how much there is to judge.
_DIGESTS = """
INSERT INTO deliveries (delivery_id, alert_id, channel, recipient, record, plan, state,
  suppressed_by, digest_id, next_attempt_at)
SELECT format('%%s-%%s', digest, member), alert_id, %(channel)s,
  format('%%s-%%s', digest, member), record, plan,
  CASE member WHEN 0 THEN %(state)s ELSE 'CLOSED' END,
  CASE WHEN member = 0 AND %(state)s = 'SUPPRESSED' THEN 'silence:s' END,
  format('%%s-0', digest), %(due)s
FROM deliveries, generate_series(1, %(digests)s) digest, generate_series(0, %(members)s - 1) member
WHERE delivery_id = %(like)s
"""


@dataclass
class Judge:
    """Holds all back, or lets all go, and notes how many alerts each transaction asked for."""

    after: State
    judged: list[int] = field(default_factory=list)
    rows: list[str] = field(default_factory=list)
    channels: list[set[str]] = field(default_factory=list)
    turns: list[int] = field(default_factory=list)

    def __call__(self, now: datetime, rows: Sequence[Waiting]) -> list[Ruling]:
        self.turns.append(len(rows))
        self.judged.append(sum(len(each.members) for each in rows))
        self.rows += [each.delivery_id for each in rows]
        self.channels.append({each.channel for each in rows})
        waits = Suppression(Kind.QUIET, "nights", now + timedelta(hours=1), "quiet nights")
        held = waits if self.after is State.SUPPRESSED else None
        return [Ruling(each, self.after, "test", "so", held) for each in rows]


def make(pool: Pool, channel: str, state: str, digests: int, members: int) -> None:
    """Record digests of one channel in a state."""
    alert = sample()
    first = message(alert, channel, "first")
    record(pool, alert, first)
    with pool.connection() as connection:
        terms = {"channel": channel, "state": state, "digests": digests, "members": members}
        terms |= {"like": first.delivery.delivery_id, "due": LONG_AGO}
        connection.execute(_DIGESTS, terms)
        connection.execute("DELETE FROM deliveries WHERE digest_id IS NULL")


def end_a_silence(pool: Pool) -> None:
    """End the silence that digests wait for before its time."""
    now = datetime.now(UTC)
    Silences(pool).create(
        NewSilence("s", {"watch": ["*"]}, now, now + timedelta(hours=1), "ann", "works")
    )
    Silences(pool).end("s", "ann")


def sweep_next(suppressions: Suppressions, judge: Judge) -> None:
    suppressions.judge_next_to_send(["email"], 2.0, judge)


def sweep_backlog(suppressions: Suppressions, judge: Judge) -> None:
    place, _ = suppressions.judge_backlog(FIRST, judge)
    while place != FIRST:
        place, _ = suppressions.judge_backlog(place, judge)


def release_due(suppressions: Suppressions, judge: Judge) -> None:
    while suppressions.judge_due(judge):
        pass


def release_ended(suppressions: Suppressions, judge: Judge) -> None:
    while suppressions.judge_ended_early(judge):
        pass


def walk(suppressions: Suppressions, judge: Judge) -> None:
    place, _ = suppressions.judge_page("", judge)
    while place is not None:
        place, _ = suppressions.judge_page(place, judge)


@pytest.mark.parametrize(
    ("digests", "rules"), [((DIGESTS, MEMBERS), 0), ((2, LIMIT + 1), 0), ((DIGESTS, 100), 999)]
)
@pytest.mark.parametrize(
    ("before", "after", "turns"),
    [
        ("PENDING", State.SUPPRESSED, sweep_next),
        ("PENDING", State.SUPPRESSED, sweep_backlog),
        ("SUPPRESSED", State.PENDING, release_due),
        ("SUPPRESSED", State.PENDING, release_ended),
        ("SUPPRESSED", State.PENDING, walk),
    ],
)
def test_turns_judge_few_digests_each_and_all_in_the_end(
    pool: Pool,
    before: str,
    after: State,
    turns: Callable[[Suppressions, Judge], None],
    digests: tuple[int, int],
    rules: int,
) -> None:
    make(pool, "email", before, *digests)
    end_a_silence(pool)
    judge = Judge(after)
    turns(Suppressions(pool, rules=lambda: rules), judge)
    most = min(LIMIT, HELD_AGAINST_LIMIT // (1 + rules))
    assert max(judge.judged) <= max(most, digests[1])
    assert sorted(judge.rows) == sorted(f"{each}-0" for each in range(1, digests[0] + 1))
    with pool.connection() as connection:
        query = "SELECT state, count(*) FROM deliveries WHERE state <> 'CLOSED' GROUP BY state"
        assert connection.execute(query).fetchall() == [(after, digests[0])]


def test_under_many_rules_fewer_rows_and_members_of_a_group_are_judged_at_once(pool: Pool) -> None:
    alert = sample()
    record(pool, alert, *(message(alert, "email", f"{number}") for number in range(50)))
    suppressions = Suppressions(pool, rules=lambda: HELD_AGAINST_LIMIT // 20)
    judge = Judge(State.SUPPRESSED)
    suppressions.judge_next_to_send(["email"], 2.0, judge)
    assert (len(judge.rows), judge.turns) == (50, [19, 19, 12])
    with pool.connection() as connection:
        connection.execute(
            "UPDATE deliveries SET suppressed_by = 'group:r', group_key = 'one',"
            " group_limit = 100, next_attempt_at = %s",
            (LONG_AGO,),
        )
    going = Judge(State.PENDING)
    while suppressions.judge_groups(going):
        pass
    assert going.turns == [19, 19, 12]


def test_a_full_group_goes_at_once_under_many_rules_too(pool: Pool) -> None:
    """What the first turn leaves is no full group, and its window may last for long."""
    alert = sample()
    record(pool, alert, *(message(alert, "email", f"{number}") for number in range(50)))
    with pool.connection() as connection:
        connection.execute(
            "UPDATE deliveries SET state = 'SUPPRESSED', suppressed_by = 'group:r',"
            " group_key = 'one', group_limit = 50, next_attempt_at = now() + interval '1 hour'"
        )
    going = Judge(State.PENDING)
    suppressions = Suppressions(pool, rules=lambda: HELD_AGAINST_LIMIT // 20)
    while suppressions.judge_groups(going):
        pass
    assert going.turns == [19, 19, 12]


def test_what_may_go_hides_nothing_behind_it_that_must_not(pool: Pool) -> None:
    make(pool, "email", "PENDING", DIGESTS, MEMBERS)
    allowed = {f"{each}-0" for each in range(1, DIGESTS + 1)}

    def judge(now: datetime, rows: Sequence[Waiting]) -> list[Ruling]:
        """Hold back what comes after the first half, by when it goes."""
        held = [each for each in rows if each.delivery_id not in first_half]
        waits = Suppression(Kind.QUIET, "nights", now + timedelta(hours=1), "quiet nights")
        return [Ruling(each, State.SUPPRESSED, "test", "so", waits) for each in held]

    first_half = set(sorted(allowed)[: DIGESTS // 2])
    moved = Suppressions(pool).judge_next_to_send(["email"], 2.0, judge)
    assert {each.delivery_id for each in moved} == allowed - first_half


def test_each_channel_is_swept_in_a_transaction_of_its_own(pool: Pool) -> None:
    alert = sample()
    record(pool, alert, *(message(alert, channel, "a") for channel in CHANNELS))
    judge = Judge(State.SUPPRESSED)
    moved = Suppressions(pool).judge_next_to_send(CHANNELS, 2.0, judge)
    assert judge.channels == [{"email"}, {"sms"}]
    assert [each.channel for each in moved] == ["email", "sms"]


def test_a_turn_gathers_few_groups_and_the_next_the_others(pool: Pool) -> None:
    alert = sample()
    record(pool, alert, *(message(alert, "email", f"{number}") for number in range(50)))
    with pool.connection() as connection:
        connection.execute(
            "UPDATE deliveries SET state = 'SUPPRESSED', suppressed_by = 'group:r',"
            " group_key = recipient::integer / 5, group_limit = 100, next_attempt_at = %s",
            (LONG_AGO,),
        )
    suppressions, judge = Suppressions(pool, 10), Judge(State.PENDING)
    moved = [len(suppressions.judge_groups(judge)) for _ in range(6)]
    assert max(moved) <= 14
    assert (sum(moved), moved[-1]) == (50, 0)


def test_a_turn_takes_as_many_steps_as_it_can_write_messages_for(pool: Pool) -> None:
    alerts = [sample(number) for number in range(3)]
    for each in alerts:
        record(pool, each, steps=(step(0, 0.0), step(1, 0.0)))
    made: list[int] = []

    def tell_many(due: Due, _: Earlier) -> Turn:
        alert = Alert.decode(due.record.encode())
        people = [message(alert, "email", f"{due.step}-{number}") for number in range(300)]
        told = [Decision(due.alert_id, None, "escalation", "told", "so") for _ in people]
        made.append(due.step)
        return Turn(tuple(people), tuple(told))

    taken = [Escalations(pool).take(20, tell_many) for _ in range(3)]
    assert [each.steps for each in taken] == [4, 2, 0]
    assert [len(each.deliveries) for each in taken] == [1200, 600, 0]
    assert sorted(made) == [0, 0, 0, 1, 1, 1]
