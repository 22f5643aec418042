"""Batch boundaries keep their moment by the wall clock, whatever pauses Spark makes.

Method: a model of Spark runs batches one after the other, each as long as it was told plus a pause
of any length; the decisions see only what a progress report says.
"""

from dataclasses import dataclass
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from auditor.batches.stagger import (
    FIRST_LEAST_SECONDS,
    START_UP_SECONDS,
    Phase,
    after_batch,
    begun,
    length_seconds,
    phase_between,
    phase_of,
)

PERIODS = st.floats(10, 300)
PARTS = st.floats(0, 0.999)
STARTS = st.floats(1e9, 2e9)
BATCHES = 12


@dataclass(frozen=True)
class Boundary:
    """From the moment at which a batch stops reading until the next one begins."""

    begin: float
    end: float

    def meets(self, other: "Boundary") -> bool:
        return self.begin < other.end and other.begin < self.end


def batches(
    phase: Phase, start: float, start_up: float, pauses: list[float], told: list[bool]
) -> list[Boundary]:
    """Run the model; where `told` is False nobody came to set the next batch's length."""
    course = begun(phase, start)
    in_spark, begin, found = course.running_seconds, start + start_up, []
    for pause, heard in zip(pauses, told, strict=True):
        boundary = Boundary(begin + course.running_seconds, begin + course.running_seconds + pause)
        found.append(boundary)
        in_spark = course.next_seconds if heard else in_spark
        took = course.running_seconds + pause
        course = after_batch(phase, course, took, boundary.end, in_spark)
        begin = boundary.end
    return found


def lists(of: st.SearchStrategy[float]) -> st.SearchStrategy[list[float]]:
    return st.lists(of, min_size=BATCHES, max_size=BATCHES)


HEARD = [True] * BATCHES


@given(PERIODS, PARTS, STARTS, st.floats(0, 5), lists(st.floats(0.1, 0.9)))
def test_boundaries_stay_at_their_phase(
    period: float, part: float, start: float, start_up: float, pauses: list[float]
) -> None:
    """The error is what two pauses differ from the expected one; it never adds up."""
    phase = phase_of(period, part, 0, 1)
    found = batches(phase, start, start_up, pauses, HEARD)
    spread = 2 * (max(pauses) - min(pauses)) + 1e-3
    assert all(abs(phase.error_seconds(each.end)) <= spread for each in found[4:])
    first = abs(phase.error_seconds(found[0].end))
    assert first <= abs(start_up - START_UP_SECONDS) + 0.5 + 1e-3


@given(
    st.floats(30, 300),
    st.tuples(STARTS, STARTS),
    lists(st.floats(0, 3)),
    lists(st.floats(0, 3)),
)
def test_two_auditors_never_stand_still_at_once(
    period: float, starts: tuple[float, float], ours: list[float], theirs: list[float]
) -> None:
    one = batches(phase_of(period, 0.0, 0, 1), starts[0], 1.0, ours, HEARD)
    # Both shall overlap in time, however long ago the other one was started.
    begin = starts[0] + (starts[1] - starts[0]) % period
    two = batches(phase_of(period, 0.5, 0, 1), begin, 1.0, theirs, HEARD)
    assert not [(a, b) for a in one for b in two if a.meets(b)]


@given(
    st.floats(30, 300),
    STARTS,
    st.floats(0, 3),
    st.integers(3, 8),
    st.lists(st.booleans(), min_size=2, max_size=2),
)
def test_after_any_odd_pause_the_second_boundary_is_right_again(
    period: float, start: float, odd_share: float, at: int, told: list[bool]
) -> None:
    phase, heard = phase_of(period, 0.25, 0, 1), list(HEARD)
    pauses = [0.4] * BATCHES
    pauses[at] = odd_share * period
    heard[at - 1 : at + 1] = told
    found = batches(phase, start, 1.0, pauses, heard)
    assert all(abs(phase.error_seconds(each.end)) < 0.01 for each in found[at + 3 :])
    if all(told):
        assert abs(phase.error_seconds(found[at + 2].end)) < 0.01


@given(PERIODS, PARTS, STARTS, st.floats(0, 5))
def test_lengths_are_bounded(period: float, part: float, begin: float, pause: float) -> None:
    phase = phase_of(period, part, 0, 1)
    length = length_seconds(phase, begin, pause)
    assert period / 2 - 1e-3 <= length <= 1.5 * period + 1e-3
    assert length_seconds(phase, begin, pause, FIRST_LEAST_SECONDS) >= FIRST_LEAST_SECONDS - 1e-3


@given(PERIODS, st.integers(1, 8))
def test_all_watches_of_a_pair_are_spread_evenly(period: float, count: int) -> None:
    offsets = sorted(
        phase_of(period, part, number, count).offset_seconds
        for part in (0.0, 0.5)
        for number in range(count)
    )
    gaps = [after - before for before, after in pairwise(offsets)]
    assert all(abs(gap - period / (2 * count)) < 1e-6 for gap in gaps)


@given(PERIODS, PARTS, st.sets(st.integers(0, 7)), st.floats(0, 0.499))
def test_one_more_watch_is_as_far_from_the_others_as_can_be(
    period: float, part: float, running: set[int], elsewhere: float
) -> None:
    """Also where some have ended of those that were spread evenly."""
    taken = [phase_of(period, part, number, 8) for number in running]
    new = phase_between(period, part, taken)
    assert (new.offset_seconds - part * period + 1e-6) % period < period / 2 + 2e-6
    other = Phase(period, (part + elsewhere) % 1.0 * period)
    assert nearest(new, taken) >= nearest(other, taken) - 1e-6


def nearest(phase: Phase, others: list[Phase]) -> float:
    """Return how far the nearest lies from this one, or from where its partner's is."""
    half = phase.period_seconds / 2
    apart = [(phase.offset_seconds - other.offset_seconds) % half for other in others]
    return min((min(each, half - each) for each in apart), default=half)


@given(PERIODS, PARTS, STARTS)
def test_the_error_is_signed_and_at_most_half_a_period(
    period: float, part: float, moment: float
) -> None:
    phase = phase_of(period, part, 0, 1)
    error = phase.error_seconds(moment)
    assert abs(error) <= period / 2 + 1e-3
    nearest = moment - error
    assert min(
        abs(phase.at_or_after(nearest - 1e-3) - nearest),
        abs(phase.at_or_after(nearest + 1e-3) - nearest),
    ) < max(1e-2, 1e-6 * period)
