"""Warnings of fields and severities that no alert of the declared watches has."""

from pathlib import Path

import pytest

from services.contracts.records import Severity
from services.lookout.routes.lint import Surroundings, lint
from services.lookout.routes.reading import Reading
from services.lookout.routes.watches import Raised, Watches
from services.lookout.routes.watches_folder import WatchesFolder
from tests.unit.lookout.test_lint import NOW

WARNING = (Severity.WARNING,)
WATCHES = Watches(
    {
        "cpu-high": Raised(("host", "region"), ("host", "since"), WARNING),
        "disk-full": Raised(("host", "mount"), ("host", "mount")),
        "over-purchase": Raised(("client",), ("order_id",), (Severity.CRITICAL,)),
    }
)
GOOD = """\
version: 1
templates:
  page: {text: "{{ alert.summary }} TEXT"}
  late: {text: "{{ alert.key.host }}"}
escalations:
  later:
    - {after: 5m, send: [{channel: bus, to: late, template: late}]}
inhibit:
  - {name: worst, when: {severity: critical}, mutes: {severity: warning}, equal: labels.host}
  - {name: own, when: {watch: disk-full}, mutes: {watch: cpu-high}, equal: [labels.host, key.host]}
silences:
  - {name: move, match: {watch: cpu-high, severity: warning}, author: ann, reason: x,
     from: "2026-11-21T00:00Z", to: "2026-11-22T00:00Z"}
routes:
  - name: hot
    match: {watch: cpu-high, severity: warning}
    group: {by: [watch, severity, labels.host, key.since], wait: 30s}
    send: [{channel: bus, to: hot, template: page}]
    escalate: later
  - name: machines
    match: {watch: ["cpu-*", disk-full]}
    group: {by: [labels.mount, key.since]}
    template: page
    send: [{channel: bus, to: machines}]
    routes:
      - {name: worst, match: {severity: critical}, send: [{channel: bus, to: worst}]}
  - {name: critical, match: {severity: critical}, send: [{channel: bus, to: critical}]}
default:
  group: {by: [labels.client, key.order_id]}
  send: [{channel: bus, to: notifications}]
"""
WATCH = """\
watch: cpu-high
version: 1
description: d
streams: [server_metrics]
sql: SELECT host, region, level, appended_at FROM server_metrics
key: [host]
labels: [region]
severity: warning
summary: "{host}"
rule: r
"""
COLUMN = ("severity: warning", "severity: {column: level}")


def said(before: str = "", after: str = "", watches: Watches = WATCHES) -> list[str]:
    """Return what is said of the file with something in another's place, each behind its line."""
    assert before in GOOD
    text = GOOD.replace(before, after, 1) if before else GOOD
    checked = Reading(("bus",), {}).check(text, "routes.yaml", str)
    found = lint(checked, Surroundings(NOW, (), watches))
    return [f"{each.line}: {each.reason}" for each in found]


def test_what_some_watch_has_is_not_warned_of() -> None:
    """Not by labels that only some of a route's watches give, nor by a severity of a column."""
    assert said() == []


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("equal: labels.host", "equal: labels.hots",
         "9: `equal` tells nothing apart by it: no declared watch has label hots, did you mean 'h"),
        ("[labels.host, key.host]}", "[labels.hots]}",
         "10: `equal` tells nothing apart by it: no alert of disk-full or cpu-high has label hots"),
        ("[labels.host, key.host]}", "[labels.mount]}",
         "10: `equal` finds alike only alerts without it: no alert of cpu-high has label mount; k"),
        ("[labels.host, key.host]}", "[key.since]}",
         "10: `equal` finds alike only alerts without it: no alert of disk-full has key since; kn"),
        ("severity, labels.host", "severity, labels.hots",
         "17: `group` tells nothing apart by it: no alert of cpu-high has label hots, did you mea"),
        ("labels.host, key.since]", "labels.host, key.sinc]",
         "17: `group` tells nothing apart by it: no alert of cpu-high has key sinc, did you mean"),
        ("labels.host, key.since]", "labels.host, key.region]",
         "17: `group` tells nothing apart by it: no alert of cpu-high has key region: it is a lab"),
        ("by: [labels.mount", "by: [labels.client",
         "22: `group` tells nothing apart by it: no alert of cpu-* or disk-full has label client;"),
        ("by: [labels.client", "by: [labels.cleint",
         "29: `group` tells nothing apart by it: no declared watch has label cleint, did you mean"),
        ("TEXT", "{{ alert.key.hots }}",
         "3: template 'page': no alert of cpu-high or cpu-* or disk-full has key hots, did you m"),
        ("TEXT", "{{ alert.labels.clinet | default('-') }}",
         "3: template 'page': no alert of cpu-high or cpu-* or disk-full has label clinet; known"),
        ("TEXT", "{{ alert.values.host }}",
         "3: template 'page': no alert of cpu-high or cpu-* or disk-full has value host: it is a"),
        ("alert.key.host }}", "alert.values.host }}",
         "4: template 'late': no alert of cpu-high has value host: it is a label"),
        ("alert.key.host }}", "alert.key.mount }}",
         "4: template 'late': no alert of cpu-high has key mount; known are host, since"),
        ("cpu-high, severity: warning}\n", "cpu-high, severity: critical}\n",
         "16: no alert of cpu-high is critical, only warning"),
        ("cpu-high, severity: warning}, a", "cpu-high, severity: [info, critical]}, a",
         "12: no alert of cpu-high is info or critical, only warning"),
        ("when: {watch: disk-full}", "when: {watch: over-purchase, severity: {at_least: info}}",
         "10: `equal` finds alike only alerts without it: no alert of over-purchase has key host;"),
        ("match: {watch: [\"cpu-*\", disk-full]}", "match: {watch: cpu-high}",
         "26: no alert of cpu-high is critical, only warning"),
    ],
)  # fmt: skip
def test_what_no_alert_has_is_told_where_it_stands(before: str, after: str, told: str) -> None:
    assert any(each.startswith(told) for each in said(before, after)), said(before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("TEXT", "{{ alert.values.mount | default('-') }} {{ alert.labels.mount | default('-') }}"),
        ("equal: labels.host", "equal: [watch, labels.mount, key.order_id]"),
        ("cpu-high, severity: warning}\n", '"cpu-h*", severity: critical}\n'),
        ("by: [labels.client, key.order_id]", "by: [severity, labels.mount, labels.region]"),
    ],
)
def test_what_may_be_meant_is_not_told(before: str, after: str) -> None:
    assert said(before, after) == []


def test_what_a_watch_that_is_declared_elsewhere_has_is_not_known() -> None:
    """That nobody declares it here is told already, and once."""
    for watches in ("of-others", "[cpu-high, of-others]"):
        after = f"watch: {watches}, labels: {{zone: x}}, severity: critical}}\n"
        told = said("watch: cpu-high, severity: warning}\n", after)
        assert told == ["16: no declared watch is of-others"]


@pytest.mark.parametrize("watch", ["test-send", "accountant", '"test*"', '"*"'])
def test_alerts_that_no_watch_raises_have_fields_of_their_own(watch: str) -> None:
    after = f"{{watch: {watch}}}\n    group: {{by: [labels.kind, key.finding]}}\n"
    own = f"  - name: own\n    match: {after}    send: [{{channel: bus, to: own}}]\ndefault:\n"
    assert said("default:\n", own) == []


@pytest.mark.parametrize(
    ("before", "after", "meant"),
    [
        ("labels.host, key.since]", "labels.regoin, key.sinc]", ["'region'?", "'since'?"]),
        ("labels.host, key.since]", "labels.desk, key.region]", []),
        ("equal: labels.host", "equal: labels.hots", []),
        ("cpu-high, severity: warning}\n", "cpu-high, severity: critical}\n", []),
        ("alert.key.host }}", "alert.values.host }}", []),
        ("alert.key.host }}", "alert.key.sinc }}", ["'since'?"]),
        ("TEXT", "{{ alert.key.sinc }}", []),
    ],
)
def test_where_other_watches_may_run_only_a_slip_is_told(
    before: str, after: str, meant: list[str]
) -> None:
    found = said(before, after, Watches(WATCHES.raised, are_all=False))
    assert sorted(each.partition("did you mean ")[2] for each in found) == meant


def test_fields_and_severities_are_read_from_the_declarations(tmp_path: Path) -> None:
    (tmp_path / "watch.yaml").write_text(WATCH)
    (tmp_path / "column.yaml").write_text(WATCH.replace("cpu-high", "cpu").replace(*COLUMN))
    read = WatchesFolder(tmp_path, are_all=True).read()
    assert read.raised["cpu-high"] == Raised(("region",), ("host",), WARNING)
    assert read.raised["cpu"].severities == tuple(Severity)
