"""Waiting grows to its limit, is never close to nothing and never above the limit."""

import random

from hypothesis import given
from hypothesis import strategies as st

from services.backbone.backoff import Backoff


@given(st.integers(1, 1000), st.integers())
def test_waits_stay_between_half_and_whole(attempt: int, seed: int) -> None:
    backoff = Backoff(first_seconds=0.1, factor=2, limit_seconds=30)
    whole = min(30.0, 0.1 * 2.0 ** min(attempt - 1, 64))
    assert whole / 2 <= backoff.seconds(attempt, random.Random(seed)) <= whole
