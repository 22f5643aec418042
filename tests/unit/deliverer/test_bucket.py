"""The token bucket never allows more than rate times time plus burst, and never blocks for good."""

from hypothesis import given
from hypothesis import strategies as st

from services.deliverer.bucket import TokenBucket


@given(
    st.floats(0.1, 1000),
    st.integers(1, 100),
    st.lists(st.tuples(st.floats(0, 10), st.integers(0, 50))),
)
def test_the_rate_is_kept(per_second: float, burst: int, asks: list[tuple[float, int]]) -> None:
    bucket = TokenBucket(per_second, burst, now=0.0)
    now, taken = 0.0, 0
    for waited, wanted in asks:
        now += waited
        allowed = bucket.available(now, wanted)
        assert 0 <= allowed <= wanted
        bucket.take(allowed)
        taken += allowed
        assert taken <= per_second * now + burst + 1e-6


@given(st.floats(0.1, 1000), st.integers(1, 100))
def test_after_the_wait_that_it_names_one_more_may_go(per_second: float, burst: int) -> None:
    bucket = TokenBucket(per_second, burst, now=0.0)
    bucket.take(bucket.available(0.0, burst))
    wait = bucket.seconds_to_next()
    assert wait > 0
    assert bucket.available(wait + 1e-6, 1) == 1


def test_without_a_limit_everything_goes() -> None:
    bucket = TokenBucket(None, 1, now=0.0)
    bucket.take(bucket.available(0.0, 1000))
    assert bucket.available(0.0, 1000) == 1000
    assert bucket.seconds_to_next() == 0
