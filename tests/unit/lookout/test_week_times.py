"""Times of the week against a walk from minute to minute, on days when clocks change too."""

from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from services.lookout.week_times import MINUTES_A_DAY, SEARCH_DAYS, WeekPart, WeekTimes

ZONES = ("UTC", "Europe/Paris", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata")
MINUTE = timedelta(minutes=1)
WALK_MINUTES = 2 * MINUTES_A_DAY
CLOCK_CHANGES = (
    datetime(2026, 3, 29, 1, tzinfo=UTC),  # Paris goes to summer time
    datetime(2026, 10, 25, 1, tzinfo=UTC),  # and back
    datetime(2026, 3, 8, 7, tzinfo=UTC),  # New York
    datetime(2026, 11, 1, 6, tzinfo=UTC),
    datetime(2026, 4, 4, 15, tzinfo=UTC),  # Lord Howe, by half an hour
    datetime(2026, 10, 3, 15, 30, tzinfo=UTC),
)


def moments() -> st.SearchStrategy[datetime]:
    """Draw moments, many of them around a change of clocks."""
    return st.builds(
        lambda base, minutes, seconds: base + timedelta(minutes=minutes, seconds=seconds),
        st.sampled_from((*CLOCK_CHANGES, datetime(2026, 7, 1, tzinfo=UTC))),
        st.integers(-MINUTES_A_DAY, MINUTES_A_DAY),
        st.integers(0, 59),
    )


def parts() -> st.SearchStrategy[WeekPart]:
    """Draw parts, whole days and such that begin or end in an hour that is skipped or repeated."""
    minutes = st.integers(0, 47).map(lambda half: half * 30) | st.integers(0, MINUTES_A_DAY - 1)
    return st.builds(
        WeekPart,
        st.frozensets(st.integers(0, 6), min_size=1),
        minutes,
        minutes | st.just(MINUTES_A_DAY),
        st.sampled_from(ZONES).map(ZoneInfo),
    ).filter(lambda part: part.start_minute != part.end_minute % MINUTES_A_DAY)


TIMES = st.builds(
    WeekTimes, st.just("t"), st.lists(parts(), min_size=1, max_size=3).map(tuple), st.booleans()
)


def inside(times: WeekTimes, at: datetime) -> bool:
    """What a person with a calendar and a clock of that zone would say."""
    for part in times.parts:
        wall = at.astimezone(part.zone).replace(tzinfo=None)
        for days_ago in (0, 1):
            day = wall.date() - timedelta(days=days_ago)
            midnight = datetime.combine(day, time())
            length = (part.end_minute - part.start_minute) % MINUTES_A_DAY
            begin = midnight + timedelta(minutes=part.start_minute)
            end = begin + timedelta(minutes=length or MINUTES_A_DAY)
            if day.weekday() in part.days and begin <= wall < end:
                return not times.inverse
    return times.inverse


@given(TIMES, moments())
def test_inside_is_what_a_clock_on_the_wall_shows(times: WeekTimes, at: datetime) -> None:
    assert times.contains(at) == inside(times, at)
    assert times.outside().contains(at) != times.contains(at)
    assert times.outside().outside() == times


@given(TIMES, moments())
@example(
    WeekTimes("skipped", (WeekPart(frozenset({6}), 120, 180, ZoneInfo("Europe/Paris")),)),
    datetime(2026, 3, 28, 12, tzinfo=UTC),
)
def test_the_next_change_is_what_a_walk_finds(times: WeekTimes, at: datetime) -> None:
    here = times.contains(at)
    found = times.first(at, inside=not here)
    minute = at.replace(second=0) + MINUTE
    end = at + WALK_MINUTES * MINUTE
    while minute < end and times.contains(minute) == here:
        minute += MINUTE
    if minute < end:
        assert found == minute
    else:
        assert found is None or found >= end
        assert found is None or found <= at + timedelta(days=SEARCH_DAYS)


@given(TIMES, moments())
def test_the_end_is_outside_and_what_is_outside_ends_at_once(
    times: WeekTimes, at: datetime
) -> None:
    end = times.until_outside(at)
    if not times.contains(at):
        assert end == at
    elif end is not None:
        assert end > at
        assert not times.contains(end)
        assert end.utcoffset() == timedelta()


@pytest.mark.parametrize(
    ("at", "hours"),
    [
        (datetime(2026, 10, 24, 21, tzinfo=UTC), 8),  # clocks go back: 23:00 to 06:00 has 8 hours
        (datetime(2026, 3, 28, 22, tzinfo=UTC), 6),
        (datetime(2026, 7, 1, 21, tzinfo=UTC), 7),
    ],
)
def test_a_night_is_longer_when_clocks_go_back(at: datetime, hours: int) -> None:
    night = WeekPart(frozenset(range(7)), 23 * 60, 6 * 60, ZoneInfo("Europe/Paris"))
    assert WeekTimes("night", (night,)).until_outside(at) == at + timedelta(hours=hours)


def test_what_never_changes_has_no_end() -> None:
    always = WeekTimes("always", (WeekPart(frozenset(range(7)), 0, 1440, ZoneInfo("UTC")),))
    assert always.until_outside(CLOCK_CHANGES[0]) is None
    assert always.outside().until_inside(CLOCK_CHANGES[0]) is None


def test_what_many_ask_for_one_moment_is_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[datetime] = []
    edges = WeekTimes.edges

    def noted(times: WeekTimes, at: datetime) -> Iterator[datetime]:
        searched.append(at)
        return edges(times, at)

    monkeypatch.setattr(WeekTimes, "edges", noted)
    part = WeekPart(frozenset(range(5)), 8 * 60, 18 * 60, ZoneInfo("Europe/Paris"))
    found = {
        WeekTimes("searched once", (part,)).outside().until_outside(at)
        for at in (datetime(2026, 11, 29, 12, tzinfo=UTC),) * 100
    }
    assert found == {datetime(2026, 11, 30, 7, tzinfo=UTC)}
    assert len(searched) == 1


def test_a_moment_at_the_end_of_time_has_an_answer() -> None:
    nights = WeekPart(frozenset(range(7)), 22 * 60, 6 * 60, ZoneInfo("Asia/Tokyo"))
    last = datetime.max.replace(tzinfo=UTC)
    assert nights.contains(last) == nights.contains(last - timedelta(days=2))
