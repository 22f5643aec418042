"""`watch check` holds a file against the streams that the programs read, or those it is given."""

import io

import pytest

from services.aldebaran.__main__ import parser
from services.aldebaran.watches import check
from services.backbone.errors import Refused
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
