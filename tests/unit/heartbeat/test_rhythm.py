"""Due times over random walks of the clock."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.heartbeat.rhythm import Rhythm


@given(st.integers(1, 5), st.lists(st.floats(0.001, 30), max_size=50))
def test_no_beat_twice_in_one_interval_and_none_left_over(count: int, steps: list[float]) -> None:
    watches = [f"watch-{number}" for number in range(count)]
    rhythm = Rhythm(watches, interval_seconds=2.0, start_seconds=100.0)
    now = 100.0
    last: dict[str, float] = {}
    for step in steps:
        due = rhythm.due(now)
        assert len(due) == len(set(due))
        last |= dict.fromkeys(due, now)
        assert 0 < rhythm.wait_seconds(now) <= 2.0
        assert rhythm.due(now) == []
        assert all(now - at < 2.0 for at in last.values())
        now += step


def test_beats_are_spread_over_the_interval() -> None:
    rhythm = Rhythm(["one", "other"], interval_seconds=2.0, start_seconds=0.0)
    assert rhythm.due(0.0) == ["one"]
    assert rhythm.wait_seconds(0.0) == pytest.approx(1.0)
    assert rhythm.due(1.0) == ["other"]
    assert rhythm.due(2.0) == ["one"]


def test_without_a_watch_nothing_is_due() -> None:
    rhythm = Rhythm([], interval_seconds=2.0, start_seconds=0.0)
    assert rhythm.due(5.0) == []
    assert rhythm.wait_seconds(5.0) == pytest.approx(2.0)
