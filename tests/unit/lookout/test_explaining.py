"""`explain` shows the tree as it was asked, and what would be sent, held back, or follow."""

import json
from pathlib import Path

import pytest

from services.lookout.__main__ import main
from tests.unit.lookout.samples import sample
from tests.unit.lookout.test_routes_keys import FULL


@pytest.fixture(autouse=True)
def _channels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALDEBARAN_CHANNELS", '["bus", "email", "sms", "push"]')


def explained(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    at: str,
    routes: str = FULL,
    **changes: object,
) -> list[str]:
    (folder / "routes.yaml").write_text(routes)
    alert = sample(watch="over-heat", labels={"zone": "north"})
    (folder / "alert.json").write_text(json.dumps(json.loads(alert.encode()) | changes))
    arguments = ["explain", str(folder / "routes.yaml"), str(folder / "alert.json"), "--at", at]
    assert main(arguments) == 0
    return capsys.readouterr().out.splitlines()


def test_a_night_in_full(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = explained(tmp_path, capsys, "2026-11-21T23:00:00+01:00", severity="warning")
    assert lines[0].startswith("at 2026-11-21T22:00:00Z, routes ")
    assert lines[1:26] == [
        "  hot: yes, all its conditions hold",
        "    hot-office: no, it is not office now",
        "    hot-critical: no, severity warning is not critical",
        "routed by: hot",
        "deliveries: 2",
        "  push to ann-phone",
        "    by route hot, template page",
        "    if that fails for good: sms to +4915112345678, then email to ann@example.com",
        "    quiet in night: held back until 2026-11-22T05:00:00Z",
        "    grouped by watch, labels.zone: sent 10 s after the first, or when 100 have come",
        "  email to bob@example.com",
        "    by route hot, template page",
        "    quiet in night: held back until 2026-11-22T05:00:00Z",
        "    grouped by watch, labels.zone: sent 10 s after the first, or when 100 have come",
        "escalation nobody-there, while nobody has acknowledged:",
        "  after 300 s: sms to +4915112345678",
        "  after 900 s: email to bob@example.com; 3 times more, every 600 s, each span 2 times"
        " the one before",
        "SILENCED until 2026-11-22T05:00:00Z by move (ann: the racks move)",
        "",
        "-- template page --",
        "over-heat",
        "",
        "finding 1",
    ]


def test_a_critical_alert_is_not_held_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = explained(tmp_path, capsys, "2026-11-20T23:00:00+01:00")
    assert "    quiet in night: critical alerts are sent all the same" in lines
    assert "routed by: hot-critical" in lines
    assert not [line for line in lines if line.startswith("SILENCED")]


def test_an_inhibited_alert_says_by_what(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = explained(tmp_path, capsys, "2026-11-20T12:00:00Z", watch="cpu-load")
    assert "routed by: default" in lines
    assert (
        "held back by site-down while an alert that it waits for, alike in labels.zone, is fresh"
        in lines
    )
    assert "[CRITICAL] cpu-load: finding 1" in lines


def test_an_alert_that_others_wait_for_is_not_said_to_be_held_back_by_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wide = FULL.replace('mutes: {watch: "cpu*"}', 'mutes: {watch: "*"}')
    for watch, held_back in (("site", False), ("over-heat", True)):
        lines = explained(tmp_path, capsys, "2026-11-20T12:00:00Z", wide, watch=watch)
        assert any("held back by site-down" in line for line in lines) == held_back


def test_a_moment_needs_a_zone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["explain", "x", "y", "--at", "2026-11-20T12:00:00"])
    assert "has no zone: write Z or +01:00 behind it" in capsys.readouterr().err


@pytest.mark.parametrize("at", ["9999-12-31T23:00:00Z", "0001-01-01T00:00:00+14:00"])
def test_a_moment_that_no_zone_can_tell_is_refused(
    at: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["explain", "x", "y", "--at", at])
    assert "a moment from 1970-01-01T00:00:00Z to 9000-01-01T00:00:00Z" in capsys.readouterr().err


def test_the_last_moment_that_can_be_asked_about_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = explained(tmp_path, capsys, "9000-01-01T00:00:00Z", severity="warning")
    assert lines[0].startswith("at 9000-01-01T00:00:00Z, routes ")
