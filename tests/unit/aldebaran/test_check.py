"""`watch check` holds a file against the streams that the programs read, or those it is given."""

import io
import subprocess
from pathlib import Path

import pytest

from services.aldebaran.__main__ import parser
from services.aldebaran.watches import check
from services.backbone.errors import Refused
from services.backbone.inherited import JAVAS_LOCALE, OTHER_SPARK
from services.contracts.streams import SHIPPED_STREAMS
from tests.unit.servers import STREAM_FILE, WATCH_FILE

STREAMS = str(STREAM_FILE.parent)


def said(*more: str) -> str:
    out = io.StringIO()
    chosen = parser().parse_args(["watch", "check", str(WATCH_FILE), "--form-only", *more])
    assert check(chosen, out) == 0
    return out.getvalue()


@pytest.mark.parametrize("setting", ["ALDEBARAN_STREAMS_DIR", "ALDEBARAN_AUDITOR_STREAMS"])
def test_the_setting_names_the_folder(monkeypatch: pytest.MonkeyPatch, setting: str) -> None:
    with pytest.raises(Refused, match="not declared: server_metrics; declared are: trades"):
        said()
    monkeypatch.setenv(setting, STREAMS)
    assert said().startswith("cpu-high: its form is right")


def test_the_command_line_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALDEBARAN_STREAMS_DIR", str(SHIPPED_STREAMS))
    assert said("--streams", STREAMS).startswith("cpu-high: its form is right")


@pytest.mark.parametrize("ending", ["yml", "YAML", "txt"])
def test_a_file_that_no_auditor_would_read_is_refused(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"cpu-high.{ending}"
    file.write_text(WATCH_FILE.read_text())
    chosen = parser().parse_args(["watch", "check", str(file), "--streams", STREAMS])
    with pytest.raises(Refused, match=rf"cpu-high\.{ending}: only \*\.yaml files are read: rename"):
        check(chosen, io.StringIO())


def test_the_auditors_check_is_led_to_no_other_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in OTHER_SPARK:
        monkeypatch.setenv(name, "/opt/other")
    started = []

    def run(command: list[str], **told: object) -> subprocess.CompletedProcess[str]:
        started.append((command, told.get("env")))
        return subprocess.CompletedProcess(command, 0, stdout="")

    monkeypatch.setattr(subprocess, "run", run)
    chosen = parser().parse_args(["watch", "check", str(WATCH_FILE), "--streams", STREAMS])
    assert check(chosen, io.StringIO()) == 0
    command, environment = started[-1]
    assert command[1:4] == ["-m", "auditor", "check"]
    assert isinstance(environment, dict)
    assert environment["PATH"]
    assert not OTHER_SPARK & environment.keys()
    assert environment.items() >= JAVAS_LOCALE.items()
