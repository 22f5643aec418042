"""A destination gets as many sends at once as it has earned by answering, and never none."""

from collections import defaultdict
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.deliverer.breaker import DESTINATIONS_LIMIT
from services.deliverer.outcomes import Accepted, Outcome, Permanent, Refused, Unknown
from services.deliverer.places import Places
from services.deliverer.trust import Standing, Trust

ANSWERS: tuple[Outcome, ...] = (Accepted(), Permanent("no such number"), Refused("busy"))
FAILURES: tuple[Outcome, ...] = (Unknown("no answer"), Refused("is down", destination_down=True))
HAPPENINGS = ("claim", "answer", "fail", "open")
OWN_PACE = Refused("our own pace", own_pace=True)


def answer(trust: Trust, destination: str) -> None:
    """Let one send to there be answered."""
    end(trust, trust.begin(destination), ANSWERS[0])


def leave_alone(trust: Trust, destination: str) -> None:
    """Let one send fail, and the breaker of its destination open."""
    end(trust, trust.begin(destination), FAILURES[0], is_closed=False)


def end(trust: Trust, send: Standing, outcome: Outcome, *, is_closed: bool = True) -> None:
    """Let a send end."""
    trust.note(send, outcome, has_left=True, is_closed=is_closed)
    send.end()


@given(
    st.integers(1, 40),
    st.integers(1, 40),
    st.lists(
        st.tuples(
            st.sampled_from((*ANSWERS, *FAILURES, OWN_PACE)),
            st.booleans(),
            st.sampled_from((True, True, True, False)),
        )
    ),
)
def test_each_answer_is_one_more_and_each_failure_one_less(
    first: int, most: int, sends: Sequence[tuple[Outcome, bool, bool]]
) -> None:
    trust, earned = Trust(first, most), min(first, most)
    for outcome, has_left, is_closed in sends:
        send = trust.begin("A")
        trust.note(send, outcome, has_left=has_left, is_closed=is_closed)
        send.end()
        if not is_closed:
            earned = min(first, most)
        elif outcome in FAILURES:
            earned = max(1, earned - 1)
        elif outcome in ANSWERS and has_left:
            earned = min(most, earned + 1)
        assert trust.left("A") == earned
        assert trust.left("B") == min(first, most)


@pytest.mark.parametrize("per_recipient", [True, False])
def test_whoever_answers_gets_twice_as_many_each_round(per_recipient: bool) -> None:
    trust, to = Trust(5, 32), "A" if per_recipient else ""
    places, rounds = Places(32, per_recipient, trust), []
    for _ in range(5):
        held = list(_all_that_may(places, to))
        rounds.append(len(held))
        for send in held:
            trust.note(send, ANSWERS[0], has_left=True, is_closed=True)
            places.give_back(send)
    assert rounds == ([5, 10, 16, 16, 16] if per_recipient else [5, 10, 20, 32, 32])


@pytest.mark.parametrize("per_recipient", [True, False])
@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("answered", [0, 3])
def test_who_falls_silent_is_sent_no_more_than_was_earned(
    per_recipient: bool, at_once: bool, answered: int
) -> None:
    """Whether its sends run into their time limits together or one by one; the fifth opens."""
    trust, to = Trust(5, 32), "A" if per_recipient else ""
    places = Places(32, per_recipient, trust)
    for _ in range(answered):
        answer(trust, to)
    held = list(_all_that_may(places, to))
    for _ in range(4):
        send = held.pop(0)
        trust.note(send, Unknown("no answer"), has_left=True, is_closed=True)
        places.give_back(send)
        held += [] if at_once else _all_that_may(places, to)
    assert 4 + len(held) == 5 + answered


def _all_that_may(places: Places, to: str) -> Sequence[Standing]:
    held: list[Standing] = []
    while places.free and to not in places.full():
        held += [places.take(to) for _ in range(places.unseen)]
    return held


@pytest.mark.parametrize("per_recipient", [True, False])
@pytest.mark.parametrize("late", [ANSWERS[0], FAILURES[0]])
def test_what_hangs_since_before_the_breaker_was_open_changes_nothing(
    per_recipient: bool, late: Outcome
) -> None:
    trust, to = Trust(5, 32), "A" if per_recipient else ""
    places = Places(64 if per_recipient else 32, per_recipient, trust)
    for _ in range(27):
        answer(trust, to)
    hanging = [places.take(to) for _ in range(27)]
    leave_alone(trust, to)
    assert places.left >= 5
    probe = places.take(to)
    trust.note(probe, ANSWERS[0], has_left=True, is_closed=True)
    places.give_back(probe)
    assert to not in places.full()
    assert (places.free if not per_recipient else trust.left(to)) >= 5
    for send in hanging:
        trust.note(send, late, has_left=True, is_closed=True)
        places.give_back(send)
    assert trust.left(to) == 6


@given(
    st.integers(1, 40),
    st.integers(1, 8),
    st.booleans(),
    st.lists(st.tuples(st.sampled_from("ABCD"), st.sampled_from(HAPPENINGS))),
)
def test_who_holds_nothing_may_always_begin_where_a_place_is_left(
    count: int, first: int, per_recipient: bool, happenings: Sequence[tuple[str, str]]
) -> None:
    trust = Trust(first, count)
    places, held = Places(count, per_recipient, trust), defaultdict[str, list[Standing]](list)
    for name, what in happenings:
        to = name if per_recipient else ""
        if what == "claim" and places.free and to not in places.full():
            assert 1 <= places.unseen <= places.left
            held[to] += [places.take(to) for _ in range(places.unseen)]
        elif what != "claim" and held[to]:
            outcome = FAILURES[0] if what == "fail" else ANSWERS[0]
            send = held[to].pop()
            trust.note(send, outcome, has_left=True, is_closed=what != "open")
            places.give_back(send)
    for to in {"A", "B", "C", "D"} if per_recipient else {""}:
        if places.left and not held[to]:
            assert places.free
            assert to not in places.full()
            assert list(places.fitting([to])) == [True]


def test_one_that_is_silent_makes_no_claim_for_others_smaller() -> None:
    trust = Trust(5, 32)
    places = Places(32, per_recipient=True, trust=trust)
    for _ in range(4):
        places.take("silent")
    assert places.unseen == 1
    for _ in range(12):
        answer(trust, "well")
    assert places.unseen == 12


def test_who_was_asked_least_lately_is_forgotten_first() -> None:
    trust = Trust(1, 9)
    for number in range(DESTINATIONS_LIMIT):
        answer(trust, str(number))
    for name in ("0", "new"):
        answer(trust, name)
    assert [trust.left(each) for each in ("0", "1", "2", "new")] == [3, 1, 2, 2]
