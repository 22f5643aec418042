"""The bench's arithmetic, held against a plain model."""

from hypothesis import given
from hypothesis import strategies as st

from tests.bench.percentiles import summary


@given(st.lists(st.integers(0, 10**12), min_size=1, max_size=300))
def test_at_least_the_named_share_is_not_above_the_percentile(samples: list[int]) -> None:
    found = summary(samples)
    for share, value in ((0.5, found.p50_ms), (0.99, found.p99_ms), (0.999, found.p999_ms)):
        within = sum(round(sample / 1e6, 3) <= value for sample in samples)
        assert within >= share * len(samples)
    assert found.max_ms == round(max(samples) / 1e6, 3)
