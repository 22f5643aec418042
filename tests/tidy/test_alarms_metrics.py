"""What an alarm rests on is a metric of ours, and some test sees it move."""

import re
from functools import cache

import pytest

from tests.alarms import rules
from tests.chart.test_chart_agrees_with_code import metrics_named
from tests.metrics import PREFIX, metrics
from tests.tidy.test_tidy import ROOT

RESTED_ON = sorted({name for rule in rules() for name in metrics_named(rule["expr"])})
UNTOLD = {
    "aldebaran_auditor_checkpoints_set_aside_total": "it heals by itself, and its auditor is out of"
    " step until it has (AldebaranAuditorOutOfStep)"
}
"""What one should look at and no rule tells, each with the reason."""


@cache
def texts() -> list[str]:
    """Return the texts of all tests that run what is ours."""
    folders = (ROOT / "tests" / each for each in ("unit", "integration"))
    return [file.read_text("utf-8") for folder in folders for file in folder.rglob("*.py")]


@pytest.mark.parametrize("name", RESTED_ON)
def test_some_test_reads_the_metric(name: str) -> None:
    """By its whole name, or by its end where the file puts the program's name before it."""
    assert name in {each.name for each in metrics()}
    program, end = re.fullmatch(rf"({PREFIX}[a-z]+_)(\w+)", name).groups()  # type: ignore[union-attr] # as metrics are named
    assert any(
        name in text or (f'"{program}{{' in text and f'"{end}' in text) for text in texts()
    ), f"no test reads {name}: an alarm that rests on it may never come"


def test_what_one_should_look_at_when_a_watch_is_in_trouble_is_told_by_a_rule() -> None:
    page = (ROOT / "docs" / "recovery.md").read_text("utf-8")
    (_, told) = page.split("\n## What to look at\n")
    listed = set(re.findall(r"^\| `(\w+)` \|", told.split("\n## ")[0], re.MULTILINE))
    assert len(listed) >= 5
    assert listed - set(RESTED_ON) == UNTOLD.keys()
