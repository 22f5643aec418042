"""How often a page looks for lines of a trace: until nothing more can come, and no longer."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from services.console.tracing.closing import READ_ON_SECONDS
from services.console.tracing.looking import (
    ON_SECONDS,
    OVER_SECONDS,
    SPARE_SECONDS,
    left_ms,
    look_seconds,
)
from services.console.tracing.store import FOLLOWED_SECONDS, Trace
from tests.unit.console.test_trace_reading import TRACE

SECONDS = st.integers(0, int(2 * READ_ON_SECONDS))


def at(second: int) -> int:
    """Return the moment so many seconds after the end."""
    return TRACE.ends_at_ms + second * 1000


def closed(is_closed: bool) -> Trace:
    return replace(TRACE, is_closed=is_closed)


@given(SECONDS, SECONDS)
def test_a_page_sees_what_comes_and_stops_looking(closed_at: int, second: int) -> None:
    """A line of the ledger comes within ten minutes, the last one whenever it is written."""
    trace = closed(second > closed_at)
    may_come = second < FOLLOWED_SECONDS or (not trace.is_closed and second <= READ_ON_SECONDS)
    looks = look_seconds(trace, at(second))
    assert looks in (OVER_SECONDS, None)
    if may_come:
        assert looks
    if second >= READ_ON_SECONDS + SPARE_SECONDS:
        assert looks is None
    if trace.is_closed and second >= FOLLOWED_SECONDS:
        assert looks is None


@given(SECONDS)
def test_while_it_is_on_a_page_looks_each_second(second: int) -> None:
    assert look_seconds(replace(TRACE, is_on=True), at(-second)) == ON_SECONDS


@given(SECONDS)
def test_what_is_left_is_of_the_trace_and_then_of_what_was_under_way(second: int) -> None:
    assert left_ms(replace(TRACE, is_on=True), at(-second)) == second * 1000
    assert left_ms(TRACE, at(second)) == max(0, int(FOLLOWED_SECONDS) - second) * 1000
