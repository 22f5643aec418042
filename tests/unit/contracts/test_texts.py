"""Texts are cut so that each link is whole, and the one at the end is there."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.contracts.records import TEXT_LIMIT_CHARACTERS
from services.contracts.texts import behind, shortened

LINK = "https://alerts.example.com/acknowledge/2026a." + "x" * 50
ANY_LINK = re.compile(r"(?<![a-z])[a-z]+://[!#-;=?-~]+…?")
WORDS = st.lists(
    st.text(st.sampled_from('ab:/ \n…ж"'), max_size=30)
    | st.sampled_from([LINK, f"\nmore: {LINK}"]),
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
    text = f"{'see ' * 30}{LINK} and then {'much more ' * 50}"
    assert shortened(text, 160) == "see " * 30 + "…"
    assert shortened(text, 120 + len(LINK) + 2) == f"{'see ' * 30}{LINK} …"


def test_of_links_in_a_row_those_that_fit_stay() -> None:
    found = shortened(f"{LINK}\n" * 50, 10 * (len(LINK) + 1) + 20)
    assert found.count(LINK) == 10


@pytest.mark.parametrize(
    "text",
    [
        f"警告 {LINK}をみてください。" + "部品が熱すぎます。" * 600,
        '{"see":"' + LINK + '","values":[' + "12345," * 1000 + "0]}",
    ],
)
def test_a_text_without_spaces_is_not_lost_behind_its_link(text: str) -> None:
    found = shortened(text, TEXT_LIMIT_CHARACTERS)
    assert found == text[: TEXT_LIMIT_CHARACTERS - 1] + "…"


def test_of_a_link_longer_than_the_text_words_stay_that_lead_nowhere() -> None:
    text = "see https://example.com/?to=https://example.com/" + "12345," * 1000
    found = shortened(text, TEXT_LIMIT_CHARACTERS)
    assert found.startswith("see https…example.com/?to=https…example.com/12345,")
    assert TEXT_LIMIT_CHARACTERS - 5 <= len(found) <= TEXT_LIMIT_CHARACTERS
    assert not ANY_LINK.findall(found)


def test_a_long_text_without_links_is_cut_at_its_end() -> None:
    assert shortened("a" * 10, 5) == "aaaa…"
