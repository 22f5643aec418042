"""Settings: environment over file over secrets over default; bad ones named; secrets hidden."""

from pathlib import Path

import pytest

from services.backbone.settings import (
    EXIT_BAD_SETTINGS,
    ChannelsSettings,
    KafkaSettings,
    LedgerSettings,
    Settings,
    read_settings,
)


def test_the_environment_wins_over_the_file_and_the_file_over_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text("http_port: 1111\nlog_level: warning\n")
    monkeypatch.setenv("ALDEBARAN_SETTINGS_FILE", str(file))
    monkeypatch.setenv("ALDEBARAN_HTTP_PORT", "2222")
    settings = read_settings(Settings)
    assert (settings.http_port, settings.log_level, settings.log_format) == (
        2222,
        "warning",
        "json",
    )


def test_a_secret_may_come_as_a_file_and_never_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ALDEBARAN_POSTGRES_URL").write_text("postgresql://u:hunter2@h/db")
    monkeypatch.setenv("ALDEBARAN_SECRETS_DIR", str(tmp_path))
    settings = read_settings(LedgerSettings)
    assert settings.postgres_url.get_secret_value() == "postgresql://u:hunter2@h/db"
    assert "hunter2" not in repr(settings) + settings.model_dump_json()


@pytest.mark.parametrize("written", ["30000", "true", "0.5", "SASL_SSL", "'30000'"])
def test_an_option_is_what_a_person_wrote_whatever_yaml_makes_of_it(
    written: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text(f"kafka_options: {{one: {written}}}\n")
    monkeypatch.setenv("ALDEBARAN_SETTINGS_FILE", str(file))
    options = read_settings(KafkaSettings).kafka_options
    assert options["one"].get_secret_value() == written.strip("'")
    monkeypatch.setenv("ALDEBARAN_KAFKA_OPTIONS", '{"one": 30000, "two": true}')
    options = read_settings(KafkaSettings).kafka_options
    assert [each.get_secret_value() for each in options.values()] == ["30000", "true"]


def test_an_option_that_is_no_word_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ALDEBARAN_KAFKA_OPTIONS", '{"one": [1]}')
    with pytest.raises(SystemExit):
        read_settings(KafkaSettings)
    assert "ALDEBARAN_KAFKA_OPTIONS" in capsys.readouterr().err


def test_every_bad_setting_is_named_as_the_user_spells_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ALDEBARAN_HTTP_PORT", "99999")
    monkeypatch.setenv("ALDEBARAN_LOG_LEVEL", "loud")
    with pytest.raises(SystemExit) as stopped:
        read_settings(Settings)
    assert stopped.value.code == EXIT_BAD_SETTINGS
    message = capsys.readouterr().err
    assert "ALDEBARAN_HTTP_PORT: " in message
    assert "ALDEBARAN_LOG_LEVEL: " in message


@pytest.mark.parametrize(
    ("held", "said"),
    [
        (None, "ALDEBARAN_SETTINGS_FILE cannot be read: "),
        (b"[not, settings]", "holds no settings by name"),
        (b"log_level: info\nkafka_options: {one: *hunter2", "is no YAML at line 2, column 22"),
        (b"log_level: \xff", "ALDEBARAN_SETTINGS_FILE cannot be read: "),
    ],
)
def test_a_settings_file_that_cannot_be_used_is_named(
    held: bytes | None,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "settings.yaml"
    if held is not None:
        file.write_bytes(held)
    monkeypatch.setenv("ALDEBARAN_SETTINGS_FILE", str(file))
    assert told_at_the_end(Settings, capsys).count(said) == 1


@pytest.mark.parametrize("made", [False, True])
def test_what_is_no_folder_of_secrets_is_named(
    made: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "secrets"
    if made:
        folder.touch()
    monkeypatch.setenv("ALDEBARAN_SECRETS_DIR", str(folder))
    assert "ALDEBARAN_SECRETS_DIR cannot be read: " in told_at_the_end(LedgerSettings, capsys)


def test_a_secret_that_is_no_text_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ALDEBARAN_POSTGRES_URL").write_bytes(b"\xff")
    monkeypatch.setenv("ALDEBARAN_SECRETS_DIR", str(tmp_path))
    assert "ALDEBARAN_POSTGRES_URL: " in told_at_the_end(LedgerSettings, capsys)


def test_a_list_that_is_no_json_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ALDEBARAN_CHANNELS", "bus")
    told = told_at_the_end(ChannelsSettings, capsys)
    assert "ALDEBARAN_CHANNELS: it has to be JSON: " in told


def test_a_channel_given_twice_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ALDEBARAN_CHANNELS", '["sms", "email", "bus", "email", "sms", "email"]')
    told = told_at_the_end(ChannelsSettings, capsys)
    assert "ALDEBARAN_CHANNELS: " in told
    assert "named twice: email, sms\n" in told


def told_at_the_end(kind: type[Settings], capsys: pytest.CaptureFixture[str]) -> str:
    """Return the one line that a program says of settings that it cannot use."""
    with pytest.raises(SystemExit) as stopped:
        read_settings(kind)
    assert stopped.value.code == EXIT_BAD_SETTINGS
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "hunter2" not in said
    return said


def test_settings_are_frozen() -> None:
    settings = Settings()
    with pytest.raises(ValueError, match="frozen"):
        setattr(settings, "http_" + "port", 1)
