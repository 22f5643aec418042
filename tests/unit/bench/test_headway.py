"""Rates are of the time in which all partitions were at work."""

import threading

from hypothesis import given
from hypothesis import strategies as st

from tests.bench.headway import Headway, Spending, between

SECOND = 10**9
EVEN = [n * SECOND for n in range(11)]
EARLY = [n * SECOND // 2 for n in range(11)]


def test_even_partitions_are_timed_from_the_middle_to_the_end() -> None:
    headway = Headway([EVEN, EVEN], 1000)
    assert headway.span_ns(5) == (5 * SECOND, 10 * SECOND)
    assert headway.rate(*headway.span_ns(5)) == 1000


def test_the_time_after_the_first_one_ended_does_not_count() -> None:
    late = [2 * at for at in EVEN[:6]] + [10 * SECOND + n * SECOND for n in range(1, 6)]
    headway = Headway([[at + 2 * SECOND for at in EVEN], late], 1000)
    assert headway.span_ns(5) == (10 * SECOND, 12 * SECOND)
    assert headway.rate(10 * SECOND, 12 * SECOND) == 1000


def test_one_that_was_done_before_the_other_was_half_done_does_not_inflate() -> None:
    headway = Headway([EARLY, EVEN], 1000)
    assert headway.span_ns(5) == (5 * SECOND, 10 * SECOND)
    assert headway.rate(5 * SECOND, 10 * SECOND) == 500


@given(st.lists(st.integers(0, 1000), min_size=2, max_size=9, unique=True), st.data())
def test_position_is_between_its_neighbours(steps: list[int], data: st.DataObject) -> None:
    steps = sorted(steps)
    at = data.draw(st.floats(steps[0], steps[-1]))
    mark = between(steps, at)
    below = min(int(mark), len(steps) - 2)
    assert steps[below] <= at <= steps[below + 1]


def test_spending_is_taken_between_two_samples() -> None:
    enough, asked = threading.Event(), []

    def spent() -> list[float]:
        asked.append(1)
        if len(asked) == 3:
            enough.set()
        return [float(len(asked)), 0.0]

    with Spending(spent) as spending:
        assert enough.wait(30)
    used, none = spending.between(0, 10**30)
    assert (used, none) == (len(asked) - 1, 0.0)
