"""Guessing passwords gets slower and slower, for the one who guesses."""

from hypothesis import given
from hypothesis import strategies as st

from services.console.people.roles import Role
from services.console.people.sessions import form_word, is_form_word
from services.console.people.throttle import REMEMBERED_LIMIT, Caller, Throttle

ANN = Caller("ann")


def test_after_some_failures_the_wait_doubles() -> None:
    throttle, now, waits = Throttle(), 0.0, []
    for _ in range(10):
        throttle.failed(ANN, now)
        waits.append(throttle.wait_seconds(ANN, now))
        now += waits[-1]
    assert waits == [0, 0, 0, 0, 2, 4, 8, 16, 32, 64]
    assert throttle.wait_seconds(Caller("bob"), now) == 0
    throttle.succeeded(ANN)
    assert throttle.wait_seconds(ANN, now) == 0


@given(st.lists(st.floats(0, 2000), max_size=100))
def test_nobody_waits_longer_than_the_limit(pauses: list[float]) -> None:
    throttle, now = Throttle(), 0.0
    for pause in pauses:
        now += pause
        throttle.failed(ANN, now)
        assert 0 <= throttle.wait_seconds(ANN, now) <= ANN.limit_seconds


def test_only_so_many_are_remembered() -> None:
    throttle = Throttle()
    for number in range(REMEMBERED_LIMIT + 5):
        throttle.failed(Caller(str(number)), 0.0)
    assert throttle.wait_seconds(Caller("0"), 0.0) == 0


def test_each_role_includes_those_before_it() -> None:
    table = {(a, b): a.includes(b) for a in Role for b in Role}
    assert sum(table.values()) == 6
    assert table[Role.ADMIN, Role.VIEWER]
    assert not table[Role.VIEWER, Role.RESPONDER]


@given(st.text(), st.text())
def test_the_word_of_another_session_does_not_fit(own: str, given_word: str) -> None:
    token = own.encode(errors="replace").decode()
    assert is_form_word(token, form_word(token))
    assert not is_form_word(token, given_word)
