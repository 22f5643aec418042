from hypothesis import given
from hypothesis import strategies as st

from services.machine.undertaker import left_over


@given(st.lists(st.integers(1, 9)), st.lists(st.integers(1, 9)))
def test_what_was_started_and_has_not_ended_is_left(started: list[int], ended: list[int]) -> None:
    lines = [f"+{group}\n" for group in started] + [f"-{group}\n" for group in ended]
    assert left_over(lines) == set(started) - set(ended)


def test_a_group_may_come_back() -> None:
    assert left_over(["+1\n", "-1\n", "+1\n"]) == {1}
