"""A destination gets as many sends at once as it has earned by answering, and never too few."""

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.deliverer.breaker import DESTINATIONS_LIMIT
from services.deliverer.outcomes import Accepted, Outcome, Permanent, Refused, Unknown
from services.deliverer.places import Places
from services.deliverer.trust import Trust

ANSWERS: tuple[Outcome, ...] = (Accepted(), Permanent("no such number"), Refused("busy"))
NO_ANSWERS: tuple[Outcome, ...] = (
    Unknown("no answer"),
    Refused("is down", destination_down=True),
    Refused("our own pace", own_pace=True),
)


@given(
    st.integers(1, 40),
    st.integers(1, 40),
    st.lists(st.tuples(st.sampled_from(ANSWERS + NO_ANSWERS), st.booleans())),
)
def test_it_is_what_was_answered_since_the_breaker_was_open(
    first: int, most: int, sends: Sequence[tuple[Outcome, bool]]
) -> None:
    trust, answers = Trust(first, most), 0
    for outcome, is_closed in sends:
        trust.note("A", outcome, is_closed)
        answers = answers + (outcome in ANSWERS) if is_closed else 0
        assert trust.at_once("A") == min(most, first + answers)
        assert trust.at_once("B") == min(most, first)


@pytest.mark.parametrize("per_recipient", [True, False])
def test_whoever_answers_gets_twice_as_many_each_round(per_recipient: bool) -> None:
    trust = Trust(5, 32)
    places, rounds = Places(32, per_recipient, trust), []
    for _ in range(5):
        held = 0
        while places.free and "A" not in places.full():
            taken = places.unseen
            for _ in range(taken):
                places.take("A")
            held += taken
        rounds.append(held)
        for _ in range(held):
            trust.note("A", Accepted(), is_closed=True)
            places.give_back("A")
    assert rounds == [5, 10, 16, 16, 16] if per_recipient else [5, 10, 20, 32, 32]


@given(
    st.integers(1, 40),
    st.integers(1, 8),
    st.booleans(),
    st.lists(st.tuples(st.sampled_from("ABCD"), st.booleans()), max_size=100),
)
def test_nobody_holds_more_than_was_earned_and_nobody_waits_who_holds_nothing(
    count: int, first: int, per_recipient: bool, happenings: Sequence[tuple[str, bool]]
) -> None:
    trust = Trust(first, count)
    places, held = Places(count, per_recipient, trust), Counter[str]()
    for name, is_claim in happenings:
        to = name if per_recipient else ""
        if is_claim and places.free and to not in places.full():
            assert places.unseen >= 1
            for _ in range(places.unseen):
                places.take(to)
                held[to] += 1
            assert held[to] <= trust.at_once(to)
        elif held[to]:
            trust.note(to, Accepted(), is_closed=True)
            places.give_back(to)
            held[to] -= 1
    for to in set("ABCD" if per_recipient else ("",)) - held.keys() if places.left else ():
        assert places.free
        assert to not in places.full()
        assert list(places.fitting([to])) == [True]


def test_what_was_earned_before_the_breaker_opened_keeps_no_probe_from_going() -> None:
    trust = Trust(5, 32)
    places = Places(32, per_recipient=False, trust=trust)
    for _ in range(27):
        trust.note("", Accepted(), is_closed=True)
    for _ in range(20):
        places.take("")
    trust.note("", Unknown("no answer"), is_closed=False)
    assert (places.free, places.left) == (0, 12)


def test_who_has_not_answered_for_the_longest_time_is_forgotten_first() -> None:
    trust = Trust(1, 9)
    for number in range(DESTINATIONS_LIMIT):
        trust.note(str(number), Accepted(), is_closed=True)
    for name in ("0", "new"):
        trust.note(name, Accepted(), is_closed=True)
    assert [trust.at_once(each) for each in ("0", "1", "2", "new")] == [3, 1, 2, 2]
