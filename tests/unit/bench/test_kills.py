"""When to kill, and which probes tell what a kill costs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.bench.engine import Kill
from tests.bench.kills import (
    ALONE,
    CATCHING_UP_SECONDS,
    DEAD,
    FIRST_KILL_SECONDS,
    RECOVERY_SECONDS,
    STARTING,
    Away,
    Planned,
    away,
    due_seconds,
    kills_of,
    planned,
    stage,
)
from tests.bench.probe import Found

SECOND = 10**9


@given(st.floats(1, 3600), st.integers(1, 3))
def test_kills_go_in_turn_and_leave_time_to_recover(seconds: float, parts: int) -> None:
    kills = planned(seconds, parts)
    assert [kill.part for kill in kills] == [number % parts for number in range(len(kills))]
    moments = [kill.at_seconds for kill in kills]
    assert moments[0] >= FIRST_KILL_SECONDS
    ends = [*moments[1:], seconds]
    if seconds >= 60:
        gaps = [end - at for at, end in zip(moments, ends, strict=True)]
        assert min(gaps) >= RECOVERY_SECONDS - 1e-6


def test_four_minutes_have_three_kills_at_other_moments_of_a_batch() -> None:
    first, second, third = (kill.at_seconds % 60 for kill in planned(240, 2))
    assert min(abs(first - second), abs(second - third), abs(third - first)) > 5


def test_nobody_is_killed_before_the_last_one_killed_has_caught_up() -> None:
    plan = Planned(100, 1)
    assert due_seconds(plan, 40) == 100
    assert due_seconds(plan, 99) == 99 + CATCHING_UP_SECONDS


def probes(count: int) -> Found:
    """One a second; each alerts after 10 ns by b, and comes back as echo after 1 ns."""
    sent = {index: index * SECOND for index in range(count)}
    alerts = {index: at + 10 for index, at in sent.items()}
    echoes = {index: at + 1 for index, at in sent.items()}
    return Found(sent, alerts, echoes, raised_ns={"b": dict(alerts)})


def test_who_raises_what_was_sent_since_its_start_within_a_second_is_in_step() -> None:
    found, kill = probes(20), Kill("a", 3 * SECOND + 5, 4 * SECOND)
    late = {index: 10 * SECOND + index for index in range(2, 9)}
    found.raised_ns["a"] = {1: SECOND + 10, 3: 3 * SECOND + 10, **late}
    assert away(kill, found).in_step_ns is None
    found.raised_ns["a"] |= {10: 10 * SECOND + 20, 11: 11 * SECOND + 10}
    back = away(kill, found)
    assert (back.in_step_ns, back.seconds()) == (10 * SECOND + 20, 7.0)


def test_the_other_auditors_alerts_bring_nobody_back() -> None:
    assert away(Kill("a", 3 * SECOND, 4 * SECOND), probes(20)).in_step_ns is None


AWAY = Away(100 * SECOND, 101 * SECOND, 120 * SECOND)


@pytest.mark.parametrize(
    ("sent_seconds", "waited_seconds", "ends_seconds", "expected"),
    [
        (99.9, 0, [], None),
        (100, 0, [], DEAD),
        (100.9, 0, [], DEAD),
        (101, 0, [], STARTING),
        (119.9, 0, [], STARTING),
        (120, 0, [], None),
        (100.5, 0, [98.9, 101.6], DEAD),
        (100.5, 0, [99.1], ALONE),
        (100.5, 0, [101.4], ALONE),
        (100.5, 2, [102], ALONE),
        (100.5, 2, [103], DEAD),
        (119, 0, [102], ALONE),
        (110, 0, [90, 130], STARTING),
        (125, 0, [110], None),
    ],
)
def test_a_probe_counts_for_what_the_killed_one_was(
    sent_seconds: float, waited_seconds: float, ends_seconds: list[float], expected: str | None
) -> None:
    ends = [round(end * SECOND) for end in ends_seconds]
    sent = round(sent_seconds * SECOND)
    assert stage(sent, sent + round(waited_seconds * SECOND), AWAY, ends) == expected


def test_who_is_not_back_is_away_until_the_end() -> None:
    gone = Away(100 * SECOND, 101 * SECOND, None)
    assert stage(10_000 * SECOND, 10_000 * SECOND, gone, []) == STARTING
    assert gone.seconds() is None


def test_without_kills_nothing_is_told() -> None:
    assert kills_of(probes(3), [], []) is None


def test_probes_are_told_by_stage_beside_their_echoes() -> None:
    found = probes(60)
    found.raised_ns["a"] = {index: at for index, at in found.alert_ns.items() if index >= 20}
    found.raised_ns["b"] = {index: at for index, at in found.alert_ns.items() if index < 40}
    found.alert_ns[12] += 30_000_000
    found.alert_ns[41] += 90_000_000
    del found.alert_ns[13]
    kills = [Kill("a", 10 * SECOND - 1, 12 * SECOND), Kill("b", 40 * SECOND - 1, 41 * SECOND + 1)]
    told = kills_of(found, kills, [SECOND, 16 * SECOND, 30 * SECOND])
    assert told is not None
    assert (told.away_seconds, told.boundaries_alone) == ([10.0, None], 1)
    counts = {each: (one.alert.count, one.echo.count) for each, one in told.stages.items()}
    # a: dead 10, 11; starting 12 to 14; alone from 15 to 20. b: dead 40, 41; starting to the end.
    assert counts == {DEAD: (4, 4), STARTING: (20, 21), ALONE: (6, 6)}
    assert told.stages[DEAD].alert.max_ms == 90.0
    assert told.stages[STARTING].alert.max_ms == 30.0
