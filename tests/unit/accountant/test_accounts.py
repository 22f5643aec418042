"""Findings as values: what is new, what has ended, who is told, and when an account cannot be."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from unittest.mock import Mock, create_autospec

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from services.accountant import accounts
from services.accountant.accounts import Limits, Target
from services.accountant.comparing import Comparison
from services.accountant.program import Accountant
from services.accountant.settings import AccountantSettings
from services.backbone.clock import ManualClock
from services.backbone.errors import Ended, Transient
from services.backbone.ledger.accounting import overdue_sql
from services.backbone.ledger.accounting.findings import (
    NAMED_LIMIT,
    RAISE_LIMIT,
    Finding,
    Notice,
    Unraised,
)
from services.backbone.ledger.accounting.overdue import Backlog, OpenRow
from services.backbone.service import Life
from services.contracts.records import Severity

LIMITS: Final = Limits(in_doubt=600.0, held=900.0, suppressed=300.0)
CHANNELS: Final = ("sms", "email", "log")
kinds = st.sampled_from(accounts.KINDS)
channels = st.sampled_from(CHANNELS)
findings = st.builds(
    Finding,
    kind=kinds,
    subject=st.sampled_from("abcdef"),
    channel=channels | st.just(""),
    detail=st.text(max_size=5),
    number=st.integers(1, 99),
    found_at_ms=st.integers(1_800_000_000_000, 1_800_000_000_009),
)
distinct = st.lists(findings, unique_by=lambda each: (each.kind, each.subject))
targets = st.lists(st.builds(Target, channels, st.sampled_from("xy")), unique=True)


def named(kind: str, channel: str, number: int) -> Finding:
    return Finding(kind, "x" * 400, channel, "y" * 400, number=number)


def unraised(found: list[Finding]) -> list[Unraised]:
    """Return them as the ledger gives them."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for each in sorted(found, key=lambda one: one.number):
        groups.setdefault((each.kind, each.channel), []).append(each)
    return [
        Unraised(*about, [each.number for each in some], some[:NAMED_LIMIT])
        for about, some in groups.items()
    ]


def told_of(found: list[Finding], targets: list[Target]) -> list[Notice]:
    return accounts.notices(unraised(found), targets, set(), 1_000)


@given(distinct, distinct)
def test_what_is_open_is_neither_new_nor_ended(known: list[Finding], now: list[Finding]) -> None:
    changes = accounts.compare(known, now)
    before, after = ({(each.kind, each.subject) for each in some} for some in (known, now))
    assert {(each.kind, each.subject) for each in changes.new} == after - before
    assert {(each.kind, each.subject) for each in changes.ended} == before - after


@given(st.lists(findings))
def test_what_is_met_again_is_one_finding(found: list[Finding]) -> None:
    kept = [(each.kind, each.subject) for each in accounts.distinct([*found, *found])]
    assert len(kept) == len(set(kept))
    assert set(kept) == {(each.kind, each.subject) for each in found}


@given(findings, targets, st.frozensets(channels))
def test_the_first_on_a_sound_channel_is_told(
    finding: Finding, targets: list[Target], troubled: frozenset[str]
) -> None:
    sound = [t for t in targets if t.channel != finding.channel and t.channel not in troubled]
    others = [t for t in targets if t.channel != finding.channel]
    told = accounts.ranked(finding.channel, targets, troubled)
    assert sorted(told, key=targets.index) == targets
    assert told[: len(sound)] == sound
    assert set(told[: len(others)]) == set(others)


@given(distinct, targets, st.frozensets(channels))
def test_every_finding_is_told_once_if_there_is_anybody(
    found: list[Finding], targets: list[Target], troubled: frozenset[str]
) -> None:
    numbered = [replace(each, number=n) for n, each in enumerate(found, 1)]
    told = accounts.notices(unraised(numbered), targets, troubled, 1_000)
    numbers = sorted(number for notice in told for number in notice.numbers)
    assert numbers == ([each.number for each in numbered] if targets else [])
    assert len({each.delivery.delivery_id for each in told}) == len(told)
    for notice in told:
        kinds = {each.kind for each in numbered if each.number in notice.numbers}
        assert kinds == {notice.delivery.alert.labels["kind"]}
        first = Target(notice.delivery.channel, notice.delivery.recipient)
        assert {first, *(Target(*each) for each in notice.instead)} == set(targets)
        assert len(notice.instead) == len(targets) - 1


@given(findings, findings)
def test_messages_have_one_id_if_they_are_of_one_finding(one: Finding, other: Finding) -> None:
    """A new ledger, or a restored one, gives the numbers of findings a second time."""
    desk = [Target("log", "desk")]
    (told,), (also,) = (told_of([each], desk) for each in (one, other))
    same = (one.kind, one.number, one.found_at_ms) == (other.kind, other.number, other.found_at_ms)
    assert (told.delivery.delivery_id == also.delivery.delivery_id) == same
    assert (told.delivery.alert.alert_id == also.delivery.alert.alert_id) == same


@pytest.mark.parametrize(
    ("kind", "limit_seconds"),
    [
        ("held", 900.0),
        ("failed", 900.0),
        ("in_doubt", 600.0),
        ("suppressed", 300.0),
        ("unfollowed", 300.0),
        ("escalation", 300.0),
    ],
)
def test_each_kind_has_its_own_limit(kind: str, limit_seconds: float) -> None:
    assert LIMITS.by_kind[kind] == limit_seconds
    (found,) = accounts.overdue([OpenRow(kind, "d1", "sms", limit_seconds, "why")])
    assert (found.kind, found.subject, found.channel) == (kind, "d1", "sms")
    assert found.detail.endswith(" min: why")


def test_the_ledger_knows_each_kind_that_waits() -> None:
    assert set(LIMITS.by_kind) == set(overdue_sql.KINDS)


def test_a_channel_that_sends_nothing_is_one_finding_however_much_waits() -> None:
    (found,) = accounts.overdue_channels([Backlog("sms", 1_000_000, 7200.0)])
    assert (found.kind, found.subject) == (accounts.OVERDUE_CHANNEL, "sms")
    (notice,) = told_of([replace(found, number=1)], [Target("log", "desk")])
    assert notice.delivery.alert.severity is Severity.CRITICAL
    assert "1000000 due, the longest for 120 min" in notice.delivery.text


def test_many_findings_fit_one_message() -> None:
    numbers = {channel: range(n, 2 * RAISE_LIMIT, 2) for n, channel in enumerate(("sms", "email"))}
    many = [
        Unraised("held", channel, every, [named("held", channel, n) for n in every[:NAMED_LIMIT]])
        for channel, every in numbers.items()
    ]
    (notice,) = accounts.notices(many, [Target("log", "desk")], set(), 1_000)
    assert notice.numbers == tuple(range(2 * RAISE_LIMIT))
    assert notice.delivery.subject == "Accounting: 100000 deliveries wait for a person"
    assert notice.delivery.alert.key == {"finding": "0"}
    assert notice.delivery.text.count("- x") == NAMED_LIMIT
    assert "and 99990 more" in notice.delivery.text
    assert len(notice.delivery.encode()) < 10_000


@pytest.mark.parametrize(("days", "age_hours"), [(14.0, 168.0), (30.0, 24 * 23.0)])
def test_a_retention_shorter_than_replays_is_refused(days: float, age_hours: float) -> None:
    with pytest.raises(ValidationError, match=f"ledger_retention_days, {days:g}, must be more"):
        AccountantSettings(ledger_retention_days=days, age_limit_hours=age_hours)
    AccountantSettings(ledger_retention_days=days + 0.1, age_limit_hours=age_hours)


@pytest.mark.parametrize(
    ("channel", "recipient"), [("sms", "0791234567"), ("email", "desk"), ("log", " ")]
)
def test_a_recipient_that_its_channel_cannot_reach_is_refused(channel: str, recipient: str) -> None:
    with pytest.raises(ValidationError, match="accountant_recipients"):
        AccountantSettings(accountant_recipients=[{"channel": channel, "recipient": recipient}])


@dataclass
class Part:
    """Stands for a part that works, or not."""

    away: bool = False
    called: int = 0
    starved: bool = False

    def step(self, _: float) -> int:
        return self.turn() and 0

    def turn(self, _: Sequence[Finding] = ()) -> int:
        if self.away:
            raise Transient("Postgres: away")
        self.called += 1
        return self.called

    def found(self) -> list[Finding]:
        if self.away:
            raise Transient("Kafka: away")
        return []

    def accounted(self) -> None:
        self.called += 1

    def trouble(self) -> str | None:
        return "reads nothing for 31 s: 7 records wait" if self.starved else None


@pytest.mark.parametrize("broken", ["comparison", "turns", "reading", "topics"])
def test_what_did_not_account_does_not_beat(broken: str) -> None:
    clock = ManualClock()
    comparison = Part(away=broken == "comparison", starved=broken == "reading")
    turns, topics = Part(away=broken == "turns"), Part(away=broken == "topics")
    heartbeat = Part()
    parts: Any = (comparison, turns, heartbeat, topics)
    accountant = Accountant(AccountantSettings(), Life(clock=clock), *parts)
    with pytest.raises(Transient):
        accountant.step()
    assert heartbeat.called == 0
    comparison.away = turns.away = topics.away = comparison.starved = False
    accountant.step()
    accountant.step()
    assert (heartbeat.called, turns.called) == (1, 1)
    clock.move(accountant.settings.accountant_turn_seconds)
    accountant.step()
    assert (heartbeat.called, turns.called, accountant.trouble) == (2, 2, None)


def test_a_client_that_has_ended_ends_the_accountant() -> None:
    """Killed with its group's coordinator, a consumer was fenced, and tried again for ever."""
    comparison = create_autospec(Comparison, instance=True)
    comparison.step.side_effect = Ended("Kafka: fenced")
    accountant = Accountant(AccountantSettings(), Life(), comparison, Mock(), Mock(), Mock())
    with pytest.raises(Ended):
        accountant.run()
