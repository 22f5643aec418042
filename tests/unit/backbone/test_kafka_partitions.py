"""Where a key lies: against values that Java's own tests have, and within the count."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.backbone.kafka.partitions import murmur2, partitions_of


@pytest.mark.parametrize(
    ("key", "hashed"),
    [
        (b"21", -973932308),
        (b"foobar", -790332482),
        (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829),
        (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        (b"abc", 479470107),
    ],
)
def test_the_hash_is_javas(key: bytes, hashed: int) -> None:
    assert murmur2(key) == hashed % 2**32


@given(st.binary(max_size=100), st.integers(1, 1024))
def test_a_key_lies_in_one_or_two_partitions(key: bytes, count: int) -> None:
    found = partitions_of(key, count)
    assert 1 <= len(found) <= 2
    assert all(0 <= each < count for each in found)
