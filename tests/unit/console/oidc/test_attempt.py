"""One try of one browser: everything follows from its secret, and nothing else does."""

from hypothesis import given
from hypothesis import strategies as st

from services.console.oidc.attempt import LASTS_SECONDS, SECRET_BYTES, Attempt, attempt_of

secrets = st.binary(min_size=SECRET_BYTES, max_size=SECRET_BYTES)
backs = st.text(st.characters(codec="utf-8"), max_size=100)
attempts = st.builds(Attempt, secrets, st.integers(0, 2**33), backs)


@given(attempts)
def test_the_cookie_brings_it_back(attempt: Attempt) -> None:
    assert attempt_of(attempt.cookie()) == attempt
    assert attempt.cookie().isascii()


@given(st.text(max_size=200))
def test_other_cookies_are_none(text: str) -> None:
    found = attempt_of(text)
    assert found is None or attempt_of(found.cookie()) == found


@given(attempts, attempts)
def test_each_has_its_own_words(one: Attempt, other: Attempt) -> None:
    assert len({one.state, one.nonce, one.verifier, one.challenge}) == 4
    assert one.is_state(one.state)
    assert one.is_state(other.state) == (one == other)
    assert len(one.verifier) == 43


@given(attempts, st.floats(-1e4, 1e4))
def test_it_lasts_ten_minutes(attempt: Attempt, later: float) -> None:
    now = attempt.begun_s + later
    assert attempt.is_over(now) == (not 0 <= now - attempt.begun_s <= LASTS_SECONDS)
