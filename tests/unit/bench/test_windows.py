"""Windows that overlap, counted one by one, and the shift that puts a moment into one or two."""

from hypothesis import given
from hypothesis import strategies as st

from services.contracts.durations import resolve
from services.contracts.watches import load_watch
from tests.bench.engine import SHIPPED
from tests.bench.windows import shifted, start_for

HOUR_MS = 3_600_000


def windows_of(at_ms: int, length_ms: int, slide_ms: int, start_ms: int = 0) -> int:
    """Return how many windows `[start + n * slide, start + n * slide + length)` hold the moment."""
    since_ms = at_ms - start_ms
    return since_ms // slide_ms - (since_ms - length_ms) // slide_ms


@given(st.integers(0, 10_000), st.integers(1, 500), st.integers(1, 500), st.integers(0, 500))
def test_windows_are_counted_as_spark_cuts_them(
    at: int, length: int, slide: int, start: int
) -> None:
    starts = range(start - 500 * slide - length // slide * slide, at + start + slide, slide)
    assert windows_of(at, length, slide, start) == sum(
        each <= at < each + length for each in starts
    )


@given(st.integers(1, 10**9), st.integers(2, 10**6), st.data())
def test_a_shift_puts_a_moment_and_what_is_around_it_into_one_or_two(
    at: int, slide: int, data: st.DataObject
) -> None:
    length = slide + data.draw(st.integers(1, slide - 1))
    for windows in (1, 2):
        start = start_for(windows, at, length, slide)
        assert 0 <= start < slide
        lasts = length - slide if windows == 2 else 2 * slide - length
        for aside in (-(lasts // 2), 0, (lasts - 1) // 2):
            assert windows_of(at + aside, length, slide, start) == windows


def test_the_shipped_rule_is_shifted_and_says_the_same_otherwise() -> None:
    at = 12_345 * HOUR_MS
    text = SHIPPED.read_text()
    spans = resolve(load_watch(SHIPPED).durations)
    for windows in (1, 2):
        start = start_for(windows, at, spans["length"], spans["slide"])
        told = shifted(text, windows, at)
        assert told.count(":start") == 1
        assert told.replace(f"  start: {start} milliseconds\n", "").replace(", :start", "") == text


def test_what_cuts_other_windows_is_left_alone() -> None:
    other = SHIPPED.with_name("unusual-volume.yaml").read_text()
    assert shifted(other, 2, 12_345 * HOUR_MS) == other
