"""Texts are cut so that each link is whole, and the one at the end is there."""

import re

from hypothesis import given
from hypothesis import strategies as st

from services.contracts.records import TEXT_LIMIT_CHARACTERS
from services.contracts.texts import behind, shortened

LINK = "https://alerts.example.com/acknowledge/2026a." + "x" * 50
ANY_LINK = re.compile(r"(?<![a-z])[a-z]+://\S+")
WORDS = st.lists(
    st.text(st.sampled_from("ab:/ \n…ж"), max_size=30) | st.sampled_from([LINK, f"\nmore: {LINK}"]),
    max_size=8,
).map(" ".join)


@given(WORDS, st.integers(1, 400))
def test_a_text_fits_and_its_links_are_whole(text: str, limit: int) -> None:
    found = shortened(text, limit)
    assert len(found) <= limit
    assert found == text or "…" in found
    assert set(ANY_LINK.findall(found)) <= set(ANY_LINK.findall(text))


@given(WORDS, st.integers(4 * (len(LINK) + 20), 800))
def test_a_link_at_the_end_outlives_the_cut(text: str, limit: int) -> None:
    assert shortened(f"{text * 9}\nacknowledge: {LINK}", limit).endswith(f"acknowledge: {LINK}")


def test_what_stands_before_the_links_gives_way_to_an_opening() -> None:
    end = f"\nacknowledge: {LINK}\nmore: {LINK}\nalert: 1"
    text = "x" * (TEXT_LIMIT_CHARACTERS - len(end)) + end
    found = behind("Again, since nobody has it.", text)
    assert len(found) == TEXT_LIMIT_CHARACTERS
    assert found.startswith("Again, since nobody has it.\n\nxxx")
    assert found.endswith(f"x…{end}")
    assert behind("Again.", "short") == "Again.\n\nshort"


def test_a_link_far_from_the_end_is_left_out_where_it_would_be_cut() -> None:
    text = f"see {LINK} and then {'much more ' * 50}"
    assert shortened(text, 60) == "see…"
    assert shortened(text, 4 + len(LINK) + 2) == f"see {LINK} …"


def test_a_long_text_without_links_is_cut_at_its_end() -> None:
    assert shortened("a" * 10, 5) == "aaaa…"
