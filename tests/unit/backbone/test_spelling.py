"""Misspelt settings are told with the nearest that there is, wherever they stand."""

from pathlib import Path

from services.backbone.spelling import KNOWN, sentence, unknown_settings


def test_a_misspelt_name_is_told_with_the_nearest() -> None:
    found = unknown_settings({"ALDEBARAN_CHANELS": "[]", "ALDEBARAN_LOG_LEVEL": "debug"})
    assert found == {"ALDEBARAN_CHANELS": "ALDEBARAN_CHANNELS"}
    assert "ALDEBARAN_CHANELS (is it ALDEBARAN_CHANNELS?)" in sentence(found)


def test_a_name_that_resembles_none_is_told_alone() -> None:
    found = unknown_settings({"ALDEBARAN_QQQQQQ": ""})
    assert found == {"ALDEBARAN_QQQQQQ": ""}
    assert sentence(found).endswith(": ALDEBARAN_QQQQQQ")


def test_what_another_program_has_and_what_is_not_ours_is_no_matter() -> None:
    known = dict.fromkeys(KNOWN.read_text("ascii").split(), "")
    others = {"PATH": "/bin", "aldebaran_log_level": "info", "KAFKA_OPTS": ""}
    assert unknown_settings(known | others) == {}


def test_the_settings_file_names_settings_in_small_letters_without_their_beginning(
    tmp_path: Path,
) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text("channels: [bus]\nALDEBARAN_CHANNELS: [bus]\nlog_levle: info\n")
    assert unknown_settings({"ALDEBARAN_SETTINGS_FILE": str(file)}) == {
        "ALDEBARAN_CHANNELS": "channels",
        "log_levle": "log_level",
    }


def test_a_folder_of_secrets_may_hold_other_files(tmp_path: Path) -> None:
    for name in ("..data", "ca.pem", "ALDEBARAN_POSTGRES_URL", "ALDEBARAN_POSTGRES_ULR"):
        (tmp_path / name).touch()
    assert unknown_settings({"ALDEBARAN_SECRETS_DIR": str(tmp_path)}) == {
        "ALDEBARAN_POSTGRES_ULR": "ALDEBARAN_POSTGRES_URL"
    }


def test_what_cannot_be_read_is_told_of_by_who_needs_it(tmp_path: Path) -> None:
    (tmp_path / "list.yaml").write_text("[1, 2]")
    (tmp_path / "broken.yaml").write_text("a: [")
    for file in ("list.yaml", "broken.yaml", "missing.yaml"):
        assert unknown_settings({"ALDEBARAN_SETTINGS_FILE": str(tmp_path / file)}) == {}
    assert unknown_settings({"ALDEBARAN_SECRETS_DIR": str(tmp_path / "missing")}) == {}
