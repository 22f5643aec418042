"""What is written at once is cut in its sequence: no portion is too large, and none is empty."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from services.backbone.portions import portions

SIZES = st.lists(st.integers(0, 12))


@given(SIZES, st.integers(1, 20), st.integers(1, 5) | st.none())
def test_all_are_there_once_and_portions_keep_to_their_limits(
    sizes: list[int], most_bytes: int, most_things: int | None
) -> None:
    cut = list(portions(sizes, int, most_bytes, most_things))
    assert [each for portion in cut for each in portion] == sizes
    for portion in cut:
        assert 1 <= len(portion) <= (most_things or len(sizes))
        assert len(portion) == 1 or sum(portion) <= most_bytes


@given(SIZES, st.integers(1, 20))
def test_no_two_neighbours_would_have_fitted_into_one(sizes: list[int], most_bytes: int) -> None:
    cut = list(portions(sizes, int, most_bytes))
    for before, after in pairwise(cut):
        assert sum(before) + after[0] > most_bytes
