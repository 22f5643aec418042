"""White space around a secret is none of it, and what is sent in a header has one line."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, SecretStr, ValidationError
from pydantic_settings import SettingsConfigDict

from services.backbone.settings import EXIT_BAD_SETTINGS, OneLine, Settings, read_settings

AROUND = st.text(" \t\r\n", max_size=3)
INSIDE = st.text("ab \n\r\t\x00\x1f\x7fé", max_size=5).map(lambda text: f"a{text}b")


class Held(BaseModel):
    """A secret that a setting has in it, beside what is none."""

    secret: SecretStr
    words: str = ""


class Made(Settings):
    """Secrets in every place that settings have them, and options."""

    model_config = SettingsConfigDict(env_prefix="ALDEBARAN_", frozen=True)

    made_plain: SecretStr | None = None
    made_line: OneLine | None = None
    made_named: dict[str, SecretStr | Held] = Field(default_factory=dict)
    made_listed: tuple[SecretStr, ...] = ()
    made_words: tuple[str, ...] = ()
    made_options: dict[str, SecretStr] = Field(default_factory=dict)


@given(AROUND, INSIDE, AROUND)
def test_a_secret_is_what_stands_between_white_space(before: str, inside: str, after: str) -> None:
    said = before + inside + after
    held = {"secret": said, "words": said}
    made = Made.model_validate(
        {
            "made_plain": said,
            "made_named": {"one": said, "two": held},
            "made_listed": [said],
            "made_words": [said],
            "made_options": {"one": said},
        }
    )
    assert made.made_plain == made.made_named["one"] == made.made_listed[0] == SecretStr(inside)
    assert made.made_named["two"] == Held(secret=SecretStr(inside), words=said)
    assert made.made_words == (said,)
    assert made.made_options == {"one": SecretStr(said)}


@given(AROUND, INSIDE, AROUND)
def test_a_secret_of_one_line_has_no_control_character(
    before: str, inside: str, after: str
) -> None:
    said = {"made_line": before + inside + after}
    if re.search(r"[\x00-\x1f\x7f]", inside):
        with pytest.raises(ValidationError, match="give it as one line"):
            Made.model_validate(said)
    else:
        assert Made.model_validate(said).made_line == SecretStr(inside)


def test_it_is_named_and_not_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ALDEBARAN_MADE_LINE", "hunter2\nhunter3\n")
    with pytest.raises(SystemExit) as stopped:
        read_settings(Made)
    assert stopped.value.code == EXIT_BAD_SETTINGS
    told = capsys.readouterr().err
    assert "ALDEBARAN_MADE_LINE: " in told
    assert "hunter" not in told
