"""Ids: the same parts give the same id, other parts another one."""

from hypothesis import given
from hypothesis import strategies as st

from services.contracts.ids import ID_LENGTH, digest

parts = st.lists(st.text(max_size=20), max_size=5)


def test_the_rule_is_pinned() -> None:
    """A change of the rule would alert every open finding again."""
    assert digest("alert", "over-purchase", "R-1001") == "57552339f516934146362933c1356a71"


@given(parts, parts)
def test_equal_ids_mean_equal_parts(first: list[str], second: list[str]) -> None:
    assert (digest(*first) == digest(*second)) == (first == second)


@given(parts)
def test_ids_are_short_hex(some: list[str]) -> None:
    assert len(digest(*some)) == ID_LENGTH
    assert set(digest(*some)) <= set("0123456789abcdef")
