"""Whatever a provider has said can be kept and told."""

from typing import Final

from hypothesis import given
from hypothesis import strategies as st

from services.backbone.storable import storable

ANY_TEXT: Final = st.text(st.characters() | st.sampled_from("\x00\udce9\ud83d\ude00"), max_size=700)


@given(ANY_TEXT, st.integers(0, 600))
def test_any_text_is_cut_and_can_be_kept(text: str, limit: int) -> None:
    kept = storable(text, limit)
    assert len(kept) <= limit
    assert "\x00" not in kept
    assert kept.encode().decode() == kept
    assert storable(kept, limit) == kept


@given(st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=700))
def test_what_can_be_kept_is_kept_as_it_is(text: str) -> None:
    assert storable(text, 700) == text
    assert storable(text, 300) == text[:300]


def test_bytes_of_another_encoding_leave_the_rest_readable() -> None:
    answer = "f\u00fcr Sie\x00".encode("latin-1").decode("utf-8", "surrogateescape")
    assert storable(answer, 100) == "f?r Sie"
