"""A blank secret never counts as one, whatever the program: its settings are refused by name."""

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, SecretStr, ValidationError
from pydantic_settings import SettingsConfigDict

from services.backbone.settings import KafkaSettings, Settings, read_settings
from services.callbacks.providers.twilio import open_provider
from services.deliverer.channels.webhook import WebhookSettings
from tests.settings import every_kind
from tests.settings_in_words import variable

BLANK = st.text(" \t\n", max_size=3)
SECRET = st.text("ab \n", max_size=4)


class Held(BaseModel):
    """A secret that a setting has in it."""

    secret: SecretStr


class Made(Settings):
    """Secrets in every place that settings have them."""

    model_config = SettingsConfigDict(env_prefix="MADE_UP_", frozen=True)

    plain: SecretStr | None = None
    may_be_none: SecretStr = SecretStr("")
    named: dict[str, SecretStr | Held] = Field(default_factory=dict)
    listed: tuple[SecretStr, ...] = ()
    more_options: dict[str, SecretStr] = Field(default_factory=dict)


@given(SECRET, SECRET, st.lists(SECRET, max_size=3))
def test_secrets_are_taken_if_none_is_blank(plain: str, held: str, listed: list[str]) -> None:
    said = {"plain": plain, "named": {"one": {"secret": held}}, "listed": listed}
    if all(each.strip() for each in (plain, held, *listed)):
        assert Made.model_validate(said).plain == SecretStr(plain.strip())
    else:
        with pytest.raises(ValidationError, match="blank secret"):
            Made.model_validate(said)


@given(BLANK)
def test_a_default_and_an_option_may_be_empty(blank: str) -> None:
    said = {"may_be_none": "", "more_options": {"region": blank}}
    assert Made.model_validate(said).may_be_none == SecretStr("")


def kinds_with_secrets() -> Iterator[tuple[type[Settings], str, str]]:
    """Give each setting of every program that is a secret, and a blank one as a person sets it."""
    for kind in sorted(every_kind(), key=str):
        if issubclass(kind, Settings):
            for name, field in kind.model_fields.items():
                told = str(field.annotation)
                if "SecretStr" in told and not name.endswith("_options"):
                    yield kind, name, json.dumps({"one": " "}) if "dict" in told else " "


@pytest.mark.parametrize(("kind", "name", "blank"), list(kinds_with_secrets()))
def test_no_program_takes_a_blank_secret(
    kind: type[Settings],
    name: str,
    blank: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv(variable(name), blank)
    if name == "operator_key":  # white space around a key is none of it, and no key none
        assert getattr(read_settings(kind), name) == SecretStr("")
        return
    with pytest.raises(SystemExit):
        read_settings(kind)
    assert variable(name) in capsys.readouterr().err


@pytest.mark.parametrize("part", ["url", "signing_secret"])
def test_a_webhook_with_a_blank_secret_is_refused(part: str) -> None:
    target = {"url": "https://desk.example", "signing_secret": "any"} | {part: ""}
    with pytest.raises(ValidationError, match="blank secret"):
        WebhookSettings.model_validate({"webhook_targets": {"desk": target}})


@pytest.mark.parametrize("setting", ["ALDEBARAN_SMS_AUTH_TOKEN", "ALDEBARAN_SMS_SHARED_KEY"])
def test_callbacks_are_not_checked_by_a_key_that_everybody_has(
    setting: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ALDEBARAN_CALLBACKS_PUBLIC_URL", "https://alerts.example.com")
    monkeypatch.setenv(setting, "")
    with pytest.raises(SystemExit):
        open_provider()
    assert f"{setting}: " in capsys.readouterr().err


def test_kafka_may_be_told_an_empty_option() -> None:
    options = {"ssl.endpoint.identification.algorithm": ""}
    assert KafkaSettings.model_validate({"kafka_options": options}).kafka_options
