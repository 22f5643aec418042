"""What a change of a file looks like."""

import difflib

from hypothesis import given
from hypothesis import strategies as st

from services.console.difference import LINES_LIMIT, Line, difference

TEXTS = st.lists(
    st.sampled_from(["a: 1", "b: 2", "--- c", "+++ d", "@@ e", "", "  f"]), max_size=12
)


@given(TEXTS, TEXTS)
def test_added_and_gone_lines_lead_from_one_text_to_the_other(
    before: list[str], after: list[str]
) -> None:
    told = difference(*("".join(f"{line}\n" for line in each) for each in (before, after)))
    assert told is not None
    expected = [each for each in difflib.ndiff(before, after) if each[0] in "+-"]
    gone = [each.text for each in told if each.kind == "gone"]
    added = [each.text for each in told if each.kind == "added"]
    kept = [each.text for each in told if each.kind == "same"]
    assert len(before) - len(gone) == len(after) - len(added)
    assert bool(gone or added) == bool(expected)
    assert all(each in before and each in after for each in kept)


def test_places_tell_where_lines_stand() -> None:
    told = difference("a\nb\n", "a\nc\n")
    assert told == [
        Line("place", "@@ -1,2 +1,2 @@"), Line("same", "a"), Line("gone", "b"), Line("added", "c")
    ]  # fmt: skip


def test_what_would_take_too_long_is_not_compared() -> None:
    assert difference("a\n" * LINES_LIMIT, "b\n") is None
