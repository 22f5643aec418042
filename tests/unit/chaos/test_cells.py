"""The plan of the kill matrix names everything once, and its report can be read."""

from dataclasses import replace

from tests.chaos.cells import Cell, Fault, plan
from tests.chaos.counting import Counts
from tests.chaos.report import shown
from tests.chaos.trial import Outcome, right

AUDITORS = ["auditor-a", "auditor-b"]
GOOD = Counts(
    expected=10,
    alerted=10,
    arrived=30,
    repeats_marked=1,
    repeats_same_key=2,
    held=0,
    missing=0,
    not_expected=0,
    repeats_unmarked=0,
)
OUTCOME = Outcome(
    Cell(Fault.KILL, ("leader", "postgres")),
    ("kafka-2", "postgres"),
    accepted=1234,
    counts=GOOD,
    probe_p95_ms=20,
    probe_worst_ms=4321,
    limit_ms=100,
    normal_again_ms=5678,
)


def test_each_cell_is_there_once_and_the_undisturbed_come_first() -> None:
    cells = plan(AUDITORS, ["postgres"])
    titles = [cell.title for cell in cells]
    assert len(set(titles)) == len(titles)
    assert [bool(cell.hit) for cell in cells[:3]] == [False, False, True]


def test_every_auditor_of_the_plan_is_killed_also_a_single_one() -> None:
    for auditors in (AUDITORS, ["auditor"]):
        killed = {name for cell in plan(auditors, []) for name in cell.hit}
        assert set(auditors) <= killed
        assert not [cell for cell in plan(auditors, []) if cell.fault is Fault.FULL]


def test_a_line_says_who_was_meant_and_who_was_hit() -> None:
    line = shown(OUTCOME)
    assert (
        "kill -9 | leader + postgres (kafka-2, postgres) | 1,234 | 10 of 10 | 30 | 1m 2k |" in line
    )
    assert "4.32 s | 5.7 s" in line
    assert "wrong" not in line


def test_what_is_missing_too_much_or_repeated_without_a_mark_is_wrong() -> None:
    assert right(OUTCOME)
    for name in ("missing", "not_expected", "repeats_unmarked"):
        bad = replace(OUTCOME, counts=replace(GOOD, **{name: 1}))
        assert not right(bad)
        assert "**wrong:" in shown(bad)
    assert not right(replace(OUTCOME, counts=replace(GOOD, alerted=9)))
