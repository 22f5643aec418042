"""No destination takes more places than it leaves free, or than two where many have one."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.deliverer.places import HELD_LIMIT_CHARACTERS, Places
from services.deliverer.trust import Trust

waiting = st.lists(st.sampled_from("ABCD"), max_size=60)


def trusting(count: int, per_recipient: bool) -> Places:
    """Return places of destinations that are all known to answer."""
    return Places(count, per_recipient, Trust(count, count))


@given(st.integers(1, 40), waiting)
def test_what_is_told_takes_no_more_than_it_leaves(count: int, told: list[str]) -> None:
    places = trusting(count, per_recipient=True)
    taken = [to for to, fits in zip(told, places.fitting(told), strict=True) if fits]
    held = []
    for to in taken:
        assert to not in places.full()
        held.append(places.take(to))
    assert places.free == count - len(taken)
    most = max(1 if count <= 2 else 2, (count + 1) // 2)
    assert all(held <= most for held in Counter(taken).values())
    assert set(told) - set(taken) == set() or places.free == 0
    for place in held:
        places.give_back(place)
    assert (places.free, places.full()) == (count, set())


@given(st.integers(1, 40), waiting)
def test_what_is_taken_unseen_takes_no_more_than_it_leaves(count: int, begun: list[str]) -> None:
    places, held = trusting(count, per_recipient=True), Counter[str]()
    for to in begun:
        if held[to] < places.free:
            places.take(to)
            held[to] += 1
    for to in set("ABCD") - places.full() if places.free else ():
        assert places.unseen >= 1
        assert held[to] + places.unseen <= max(2, places.free - places.unseen + 1)


def test_of_many_that_hold_one_each_none_is_passed_over() -> None:
    places = trusting(32, per_recipient=True)
    for number in range(31):
        places.take(str(number))
    assert (places.free, places.full(), places.unseen) == (1, set(), 1)


def test_where_all_are_one_system_all_places_are_its_own() -> None:
    places = trusting(2, per_recipient=False)
    assert list(places.fitting(["A"] * 3)) == [True] * 3
    assert places.unseen == 2
    places.take("A")
    assert (places.full(), places.unseen) == (set(), 1)


def test_long_records_need_room_too_and_nobody_takes_more_of_it_than_they_leave() -> None:
    places, record = trusting(32, per_recipient=True), "x" * (HELD_LIMIT_CHARACTERS // 5)
    assert places.unseen_characters == HELD_LIMIT_CHARACTERS // 2
    held = [places.take("A", record) for _ in range(3)]
    assert (places.free, places.full()) == (29, {"A"})
    assert places.unseen_characters < len(record) * 1.1
    assert list(places.fitting(["A", "B", "C"])) == [False, True, True]
    held += [places.take(each, record) for each in "BCD"]
    assert (places.free, places.unseen, list(places.fitting(["E"]))) == (0, 0, [False])
    for each in held:
        places.give_back(each, record)
    assert (places.free, places.full()) == (32, set())


@pytest.mark.parametrize("count", [32, 256, 1000])
def test_records_that_have_room_together_cost_nobody_a_place(count: int) -> None:
    places, record = trusting(count, per_recipient=False), "x" * (HELD_LIMIT_CHARACTERS // count)
    for free in range(count, 0, -1):
        assert places.free == free
        places.take("A", record)
    assert places.free == 0
