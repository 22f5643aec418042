"""Warnings of inhibitions that hold back nothing, or everything; judgement does as they say."""

from datetime import timedelta

import pytest

from services.contracts.records import Severity
from services.lookout.routes.reading import read_routes
from services.lookout.standing import Fired, Standing, found_at, inhibits
from tests.unit.lookout.samples import sample
from tests.unit.lookout.test_lint import warnings

FILE = """\
version: 1
inhibit:
  - {name: one, %s}
default: {send: [{channel: bus, to: notifications}]}
"""
COVERED = "never holds anything back: `when` takes all that `mutes` takes"
IDLE = "never holds anything back: `when` and `mutes` take others by"
ALL = "holds back all that `mutes` takes for any one alert that `when` takes"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("when: {watch: cpu}, mutes: {watch: cpu, severity: info}, equal: labels.host", COVERED),
        ('when: {watch: "c*"}, mutes: {watch: [cpu, cloud]}', COVERED),
        ("when: {}, mutes: {severity: info}", COVERED),
        ("when: {watch: cpu}, mutes: {watch: disk}, equal: [labels.host, watch]", f"{IDLE} watch"),
        ("when: {severity: critical}, mutes: {severity: info}, equal: severity", f"{IDLE} sev"),
        ("when: {labels: {host: a}}, mutes: {labels: {host: [b, c]}}, equal: labels.host",
         f"{IDLE} labels.host"),
        ("when: {severity: critical}, mutes: {severity: [info, warning]}", ALL),
        ("when: {severity: critical}, mutes: {watch: cpu, severity: info}", ALL),
    ],
)  # fmt: skip
def test_an_inhibition_that_is_hardly_meant_so_is_warned_of(said: str, told: str) -> None:
    ((line, reason),) = warnings(FILE % said)
    assert (line, reason.startswith(f"inhibition 'one' {told}")) == (3, True), reason


@pytest.mark.parametrize(
    "said",
    [
        "when: {severity: critical}, mutes: {severity: info}, equal: []",
        "when: {severity: critical}, mutes: {severity: info}, equal: [watch, labels.host]",
        "when: {watch: site-down}, mutes: {severity: info}",
        "when: {labels: {site: north}}, mutes: {severity: [info, warning]}",
        "when: {watch: cpu, severity: critical}, mutes: {watch: cpu}, equal: labels.host",
        'when: {watch: "cpu*"}, mutes: {watch: "*-high"}, equal: watch',
        "when: {watch: cpu}, mutes: {watch: disk}, equal: key.host",
    ],
)
def test_one_that_may_hold_something_back_is_not_warned_of(said: str) -> None:
    assert warnings(FILE % said) == []


@pytest.mark.parametrize(
    ("said", "holds"),
    [
        ("when: {watch: cpu}, mutes: {watch: cpu, severity: info}", False),
        ("when: {severity: critical}, mutes: {severity: info}, equal: severity", False),
        ("when: {severity: critical}, mutes: {severity: info}", True),
    ],
)
def test_judgement_holds_back_what_the_warning_says(said: str, holds: bool) -> None:
    rules = read_routes(FILE % said, ("bus",), {}).inhibitions
    strong = sample(watch="cpu", severity=Severity.CRITICAL, labels={"host": "db-9"})
    weak = sample(2, watch="cpu", severity=Severity.INFO, labels={"host": "web-1"})
    at = found_at(weak) + timedelta(seconds=1)
    fired = {
        key: (Fired(strong.alert_id, found_at(strong)),) for key in inhibits(rules, strong, at)
    }
    held = Standing(inhibitions=rules, fired=fired).inhibited(weak, at)
    assert fired
    assert (held is not None) == holds
