"""Seconds of full speed, picked from looks at a core."""

from hypothesis import given
from hypothesis import strategies as st

from tests.bench.pace import full_speed_seconds

SECOND_NS = 1_000_000_000
LOOKS = 10


@given(st.lists(st.booleans(), min_size=2, max_size=60), st.data())
def test_the_fast_seconds_are_found_among_slow_ones(fast: list[bool], data: st.DataObject) -> None:
    fast[0] = True
    noise = st.floats(1.0, 1.05)
    looks = [
        (second * SECOND_NS + number, (100.0 if fast[second] else 150.0) * data.draw(noise))
        for second in range(len(fast))
        for number in range(LOOKS)
    ]
    found = full_speed_seconds(looks)
    enough = sum(fast) * 20 > len(fast)
    assert found == {second for second in range(len(fast)) if fast[second]} or not enough


def test_a_single_lucky_look_makes_no_second_slow() -> None:
    looks = [(number * SECOND_NS // LOOKS, 100.0) for number in range(10 * LOOKS)]
    assert full_speed_seconds([*looks, (5, 60.0)]) == frozenset(range(10))
