"""A ring of values is a dictionary that gives up its oldest where it has no more room."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from engine.own_classes import own_classes

pytestmark = pytest.mark.spark

# Two of these keys have one hash in Java.
KEYS = ("Aa", "BB", "", "order-1", "order-2", "ö" * 40, "\U0001f4c8", "k" * 300)
SIZES = ((3, 1_000), (1_000, 1_000), (1_000, 4_096), (1_000, 400_000))
"""Values at most, bytes at most; the last is more than a ring begins with."""


@dataclass
class Held:
    """The ring beside what it should hold."""

    ring: Any
    values: dict[str, bytes] = field(default_factory=dict)

    def put(self, key: str, value: bytes) -> None:
        while not self.ring.put(key, value):
            self.values.pop(key, None)
            assert self.ring.get(key) is None
            if not self.take():
                return
        self.values[key] = value

    def take(self) -> bool:
        oldest = self.ring.takeOldest()
        if oldest is None:
            assert not self.values
            return False
        assert self.values.pop(oldest.key()) == oldest.value()
        return True

    def remove(self, key: str) -> None:
        self.ring.remove(key)
        self.values.pop(key, None)

    def look(self) -> None:
        assert {key: self.ring.get(key) for key in KEYS} == {
            key: self.values.get(key) for key in KEYS
        }


def held(spark: SparkSession, entries: int, length: int) -> Held:
    return Held(own_classes(spark).books.Ring(entries, length))


steps = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.sampled_from(KEYS), st.floats(0, 1), st.binary(max_size=4)),
        st.tuples(st.sampled_from(["remove", "take", "look"]), st.sampled_from(KEYS)),
    ),
    max_size=60,
)


@given(size=st.sampled_from(SIZES), steps=steps)
def test_it_holds_what_was_put_and_gives_up_no_other(
    spark: SparkSession, size: tuple[int, int], steps: list[tuple[Any, ...]]
) -> None:
    both = held(spark, *size)
    for step in steps:
        match step:
            case ("put", key, share, end):
                both.put(key, b"x" * int(share * size[1] / 4) + end)
            case ("remove", key):
                both.remove(key)
            case ("take", _):
                both.take()
        both.look()
    while both.take():
        pass


def test_the_first_that_was_put_goes_first(spark: SparkSession) -> None:
    ring = own_classes(spark).books.Ring(2, 1_000)
    assert ring.put("a", b"1")
    assert ring.put("b", b"2")
    assert ring.put("a", b"3"), "in its place"
    assert not ring.put("c", b"4")
    assert ring.takeOldest().key() == "a"
    assert ring.put("c", b"4")
    assert [ring.takeOldest().key() for _ in range(2)] == ["b", "c"]
    assert ring.takeOldest() is None


def test_what_would_never_fit_is_refused_once_it_is_empty(spark: SparkSession) -> None:
    ring = own_classes(spark).books.Ring(10, 1_000)
    assert not ring.put("a", b"x" * 1_000)
    assert ring.takeOldest() is None
    assert ring.put("a", b"x" * 600)


@pytest.mark.parametrize("length", [1_000, 65_536, 1_000_000])
def test_what_is_gone_makes_room(spark: SparkSession, length: int) -> None:
    ring = own_classes(spark).books.Ring(10, length)
    for number in range(200):
        assert ring.put(f"key-{number}", b"x" * (length // 4))
        ring.remove(f"key-{number}")
    assert ring.takeOldest() is None
