"""Warnings: what a routes file may say and hardly means; each at its line."""

from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from services.backbone.clock import ManualClock
from services.backbone.ledger.alerts.intake import NewAlert
from services.lookout.__main__ import main
from services.lookout.decisions.fanout import fan_out
from services.lookout.routes.dead_routes import Ever
from services.lookout.routes.holder import RoutesHolder
from services.lookout.routes.lint import Surroundings, lint
from services.lookout.routes.problems import BadRoutes
from services.lookout.routes.reading import Reading
from services.lookout.routes.source import RoutesSource
from services.lookout.routes.watches import Watches
from services.lookout.settings import SHIPPED_ROUTES
from services.lookout.standing import Standing
from services.lookout.week_times import WeekPart, WeekTimes
from tests.unit.lookout.samples import moments_asked, sample

CHANNELS = ("bus", "email", "sms")
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
GOOD = """\
version: 1
variables: {desk: desk@example.com}
times:
  office: [{days: [mon-fri], from: 08:00, to: 18:00}]
  night: [{from: 22:00, to: 06:00}]
people:
  ann: {email: ann@example.com, sms: "+4915112345678"}
templates:
  page: {text: "{{ alert.summary }}"}
escalations:
  later:
    - after: 5m
      send: [{person: ann, by: [sms]}]
      repeat: {every: 10m, times: 3}
silences:
  - {name: move, match: {}, from: "2026-11-21T00:00Z", to: "2026-11-22T00:00Z",
     author: ann, reason: x}
routes:
  - name: hot
    match: {watch: "over-*", labels: {zone: [north, south]}}
    send:
      - {channel: email, to: "${desk}", fallback: [{person: ann, by: [sms]}], template: page}
    quiet: {during: night, unless: critical}
    escalate: later
    routes:
      - name: inner
        match: {watch: over-heat, severity: critical, during: office, labels: {zone: north}}
default:
  send: [{person: ann}]
"""


def warnings(
    text: str,
    given: Collection[str] = (),
    watches: Watches | None = None,
    channels: Collection[str] = CHANNELS,
) -> list[tuple[int, str]]:
    variables = dict.fromkeys(given, "x@example.com")
    checked = Reading(channels, variables).check(text, "routes.yaml", str)
    return [(each.line, each.reason) for each in lint(checked, Surroundings(NOW, given, watches))]


def test_a_good_file_and_the_shipped_one_have_no_warnings() -> None:
    assert warnings(GOOD) == []
    shipped = Reading((*CHANNELS, "webhook"), {}).checked(RoutesSource(SHIPPED_ROUTES))
    assert lint(shipped, Surroundings(NOW)) == []


@pytest.mark.parametrize(
    ("before", "after", "line", "reason"),
    [
        ("{desk: d", "{x: y, desk: d", 2, "variable 'x' is never used"),
        ("  night:", "  day: [{from: 06:00}]\n  night:", 5, "time 'day' is never used"),
        ("  ann:", "  bob: {email: b@example.com}\n  ann:", 7, "person 'bob' is never used"),
        ("ann: {", "ann: {push: x, ", 7, "ann is never told by push: it is not in use, add it to"),
        ("  ann:", "  bob: {push: x}\n  ann:", 7, "bob has no channel in use: add one of push to"),
        (", template: page", "", 9, "template 'page' is never used"),
        ("    escalate: later\n", "", 11, "escalation 'later' is never used"),
        ("[{person: ann, by: [sms]}]\n", "[{person: ann, by: [sms]}, {channel: sms, "
         'to: "+4915112345678"}]\n', 13, "sms to +4915112345678 stands in this step twice"),
        (", times: 3", "", 14, "repeats 1000 times, practically without end: give it `times`"),
        ('to: "2026-11-22T00:00Z"', 'to: "2026-11-21T06:00Z"', 16, "silence 'move' is over since"),
        ("escalate: later\n    r", "escalate: later\n    group: {wait: 5m}\n    r", 24,
         "escalation 'later' begins 300s after an alert, which its group holds back for 300s"),
        ("[{person: ann}]\n", "[{person: ann}]\n  group: {wait: 1h}\n  escalate: later\n", 31,
         "escalation 'later' begins 300s after an alert, which its group holds back for 3600s"),
        ("by: [sms]}], t", "by: [email]}], t", 22, "falls back to the same channel, email"),
        ("t:\n  send: [{person: ann}]", "t:\n  send: [{person: ann}, {channel: bus, to: "
         "trades.rejected}]", 29, "topic trades.rejected is Aldebaran's own"),
        ("zone: [north, south]", 'zone: "!north"', 20,
         "'!north' takes what begins with `!`, which does not mean not: say what is taken, or"),
        ("zone: [north, south]", "zone: north|south", 20,
         "'north|south' takes what has a `|`, which does not mean or: write [north, south]"),
        ("match: {}", "match: {watch: cpu|disk}", 16, "does not mean or: write [cpu, disk]"),
        (", unless: critical", "", 23, "holds back critical alerts too"),
        ("watch: over-heat", "watch: heat", 26, "'inner' never matches: the routes around it take"),
        ("zone: north}}", "zone: west}}", 26, "take other values of label zone"),
        ("during: office", "during: [office, night]", 26, "it is never office and night at once"),
        ("during: office", "during: office, outside: office", 26, "never office and outside off"),
        ('"over-*", l', '"over-*", severity: info, l', 26, "the routes around it take other sev"),
    ],
)  # fmt: skip
def test_what_is_warned_of_stands_at_its_line(
    before: str, after: str, line: int, reason: str
) -> None:
    assert before in GOOD
    found = warnings(GOOD.replace(before, after, 1))
    assert any(at == line and reason in said for at, said in found), found


def test_quiet_hours_of_a_route_without_critical_alerts_are_no_matter() -> None:
    text = GOOD.replace(", unless: critical", "").replace(
        '"over-*", l', '"over-*", severity: [info], l'
    )
    assert not [said for _, said in warnings(text) if "holds back" in said]


LATE = "    escalate: later\n"


def test_an_escalation_behind_its_group_is_told_once_and_not_where_it_cannot_be() -> None:
    assert len(warnings(GOOD.replace(LATE, f"{LATE}    group: {{wait: 5m}}\n"))) == 1
    for group in ("{wait: 299s}", "none"):
        assert warnings(GOOD.replace(LATE, f"{LATE}    group: {group}\n")) == []
    inner = "labels: {zone: north}}\n        group: {wait: 10m}\n"
    assert [line for line, _ in warnings(GOOD.replace("labels: {zone: north}}\n", inner))] == [28]


def test_a_group_that_waits_as_long_as_an_escalation_tells_nobody_before_it() -> None:
    text = GOOD.replace(LATE, f"{LATE}    group: {{wait: 5m}}\n")
    alert = sample(watch="over-heat", labels={"zone": "south"})
    routes = Reading(CHANNELS, {}).read(text, "routes.yaml", str)
    now_ms = int(NOW.timestamp() * 1000)
    recorded = fan_out(alert, routes, Standing(), now_ms)
    assert isinstance(recorded, NewAlert)
    ((told,), (step,)) = recorded.deliveries, recorded.steps
    assert told.suppression is not None
    assert (told.suppression.until - NOW).total_seconds() == step.after_seconds == 300


def test_signs_that_mean_what_they_say_are_not_warned_of() -> None:
    for zone in ('"north[|]south"', '"n[!o]*"', '"north!"', '"web-1.*"', '"north-?"'):
        text = GOOD.replace("zone: [north, south]", f"zone: {zone}")
        assert not [said for _, said in warnings(text) if "does not mean" in said]


def test_a_variable_of_the_settings_that_the_file_does_not_know_is_told() -> None:
    assert warnings(GOOD, given=["desk"]) == []
    ((line, said),) = warnings(GOOD, given=["dsk"])
    assert (line, "ALDEBARAN_ROUTES_VARIABLES has 'dsk'" in said) == (2, True)


def test_nobody_is_told_by_a_channel_that_is_not_in_use() -> None:
    routes = Reading(("email",), {}).check(GOOD.replace("by: [sms]", "by: [email]"), "r", str)
    (ann,) = routes.routes().default
    assert [ann.target.channel, *(each.channel for each in ann.fallback)] == ["email"]
    with pytest.raises(BadRoutes, match="ann has no channel that is in use"):
        Reading(("email",), {}).check(GOOD, "r", str)


def test_check_shows_warnings_and_takes_them_for_errors_if_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALDEBARAN_CHANNELS", '["bus", "email", "sms"]')
    file = tmp_path / "routes.yaml"
    file.write_text(GOOD)
    file.write_text(GOOD.replace("    escalate: later\n", ""))
    capsys.readouterr()
    assert main(["check", str(file)]) == 0
    said = capsys.readouterr().out
    assert "routes.yaml:11: warning: escalation 'later' is never used\n" in said
    assert said.endswith("OK\n")
    assert main(["check", str(file), "--strict"]) == 1
    assert "OK" not in capsys.readouterr().out
    file.write_text("version: 2")
    assert main(["check", str(file)]) == 1


def test_the_lookout_logs_warnings_when_it_takes_a_file_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "routes.yaml"
    file.write_text(GOOD.replace("    escalate: later\n", ""))
    RoutesHolder(RoutesSource(file), Reading(CHANNELS, {"dsk": "x"}), ManualClock())
    said = capsys.readouterr()
    assert "ALDEBARAN_ROUTES_VARIABLES has 'dsk'" in said.out + said.err


NAMED = """\
version: 1
people:
  ann: {push: ann-phone, email: ann@example.com}
escalations:
  later:
    - {after: 5m, send: [{channel: pagerduty, to: on-cal}]}
routes:
  - name: hot
    match: {watch: over-heat}
    send: [{channel: slack, to: [desk, C0123456789]}]
    escalate: later
    routes:
      - name: inner
        match: {severity: critical}
        send: [{channel: email, to: a@example.com, fallback: [{channel: webhook, to: hook}]}]
default:
  send: [{person: ann}, {channel: push, to: desk}]
"""
NAMES = {
    "push": ("desk",),
    "pagerduty": ("on-call",),
    "slack": ("operations",),
    "webhook": (),
}


def test_names_that_no_deliverer_knows_are_warned_of_with_what_to_do() -> None:
    channels = ("email", *NAMES)
    checked = Reading(channels, {}).check(NAMED, "routes.yaml", str)
    found = [(each.line, each.reason) for each in lint(checked, Surroundings(NOW, names=NAMES))]
    unknown = "a name that its deliverer does not know: add it to"
    assert found == [
        (3, f"ann is told as 'ann-phone' by push, {unknown} push_devices; known are desk"),
        (
            6,
            f"escalation 'later' tells 'on-cal' by pagerduty, {unknown} pagerduty_routing_keys, "
            "did you mean 'on-call'?",
        ),
        (
            10,
            f"route 'hot' tells 'desk' by slack, {unknown} slack_channels; known are operations",
        ),
        (
            15,
            f"route 'inner' tells 'hook' by webhook, {unknown} webhook_targets; none is declared",
        ),
    ]
    assert lint(checked, Surroundings(NOW)) == []


def test_a_running_lookout_warns_once_of_each_name_and_again_when_it_is_news(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "routes.yaml"
    file.write_text(NAMED)
    reading = Reading(("email", *NAMES), {})
    holder = RoutesHolder(RoutesSource(file), reading, ManualClock())
    assert holder.warnings == []
    for _ in range(2):
        holder.heed({"slack": ("desk",), "push": ("desk",)})
    assert [each.line for each in holder.warnings] == [3]
    holder.heed({"slack": ("desk",), "push": ("desk", "ann-phone"), "webhook": ()})
    assert [each.line for each in holder.warnings] == [15]
    said = capsys.readouterr()
    assert (said.out + said.err).count("routes_warning") == 2


def test_times_of_many_parts_are_looked_at_once_and_not_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = moments_asked(monkeypatch)
    part = WeekPart(frozenset(range(7)), 60, 120, ZoneInfo("Europe/Paris"))
    times = [frozenset({WeekTimes(f"t{each}", (part,) * 8)}) for each in range(20)]
    ever = Ever(NOW, moments_limit=100)
    told = [ever.comes(each) for each in (*times, *times)]
    assert told == [False] * told.index(True) + [True] * (20 - told.index(True)) + told[:20]
    assert 0 < told.index(True) < 20
    assert len(asked) == 100
