"""Windows that overlap, counted one by one."""

from hypothesis import given
from hypothesis import strategies as st

from tests.bench.windows import shipped_windows, windows_of

HOUR_MS = 3_600_000


@given(st.integers(0, 10_000), st.integers(1, 500), st.integers(1, 500))
def test_windows_are_counted_as_spark_cuts_them(at: int, length: int, slide: int) -> None:
    starts = range(-10 * slide - length // slide * slide, at + slide, slide)
    assert windows_of(at, length, slide) == sum(start <= at < start + length for start in starts)


def test_an_event_lies_in_two_windows_of_the_shipped_rule_for_half_of_the_time() -> None:
    counts = [shipped_windows(hour * HOUR_MS) for hour in range(100)]
    assert counts == [2] * 25 + [1] * 25 + [2] * 25 + [1] * 25
