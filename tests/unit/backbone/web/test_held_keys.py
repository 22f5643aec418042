"""A key that is held goes into a header: what cannot is refused at the start, with the reason."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr, TypeAdapter, ValidationError

from services.backbone.web.client import OperatorSettings
from services.backbone.web.keys import HeldKey, new_key

KEY: TypeAdapter[SecretStr] = TypeAdapter(HeldKey)


def taken(text: str) -> str:
    return KEY.validate_python(text).get_secret_value()


def test_the_newline_of_a_file_is_no_part_of_a_key() -> None:
    key = new_key()
    assert (taken(f"{key}\n"), taken("")) == (key, "")


@pytest.mark.parametrize("text", ["schlüssel", "aldebaran_\u2026", "two\nlines", "a\x7fb"])
def test_what_no_header_carries_is_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(ValidationError, match="no key of keygen's") as caught:
        OperatorSettings(operator_key=SecretStr(text))
    assert text not in str(caught.value)


@given(st.text(max_size=50))
def test_what_is_taken_can_be_sent(text: str) -> None:
    try:
        key = taken(text)
    except ValidationError:
        return
    assert key.encode("ascii").decode().isprintable()
