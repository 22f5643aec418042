"""A property that never met the case it is about fails."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.seen import Seen


def test_a_property_must_meet_its_cases_at_each_run() -> None:
    seen = Seen()
    drawn = [1]

    @seen.must_be("odd", "even")
    @given(st.booleans())
    def judged(even: bool) -> None:
        seen.add("even" if even and drawn else "odd")

    judged()
    drawn.clear()
    with pytest.raises(AssertionError, match=r"never tried: \['even'\]"):
        judged()
