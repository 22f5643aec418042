"""Runs of the kill matrix add up, and their report can be read."""

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.chaos.cells import Cell, Fault, plan
from tests.chaos.counting import Counts
from tests.chaos.report import lines, shown
from tests.chaos.results import Outcome, Result, Run, commit, read_results

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
    ("kafka-2", "postgres"),
    accepted=1234,
    counts=GOOD,
    probe_p95_ms=20,
    probe_worst_ms=4321,
    limit_ms=100,
    normal_again_ms=5678,
)
CELL = Cell(Fault.KILL, ("leader", "postgres"))
FIRST = Run("2026-01-01 10:00", "aaaaaaa", "2 cores, 4 GiB", 60)
SECOND = replace(FIRST, begun="2026-01-01 11:00", commit="bbbbbbb")
CELLS = plan(["auditor-a", "auditor-b"])


def played(cell: Cell, run: Run, outcome: Outcome | None = None, problem: str = "") -> Result:
    return Result(cell, run, "2026-01-01 10:01", 1.5, outcome, problem)


def test_a_line_says_who_was_meant_and_who_was_hit() -> None:
    line = shown(played(CELL, FIRST, OUTCOME), 7)
    assert "| leader + postgres (kafka-2, postgres) | steady | mid batch | 1,234 " in line
    assert "| 10 of 10 | 30 | 1m 2k | 0 | 4.32 s | 5.7 s | 7 | 10:01 | 1.5 |" in line
    assert "wrong" not in line


def test_a_load_that_was_over_before_the_fault_is_told() -> None:
    for runs, said in ((True, "steady"), (False, "steady (over)"), (None, "steady")):
        line = shown(played(CELL, FIRST, replace(OUTCOME, load_runs=runs)), 7)
        assert f"| {said} | mid batch |" in line


@pytest.mark.parametrize(
    ("worst_ms", "never", "said"),
    [(4321, None, "4.32 s"), (4321, 0, "4.32 s, 0 never"), (None, 2, "2 never")],
)
def test_probes_that_never_came_stand_beside_the_worst(
    worst_ms: int | None, never: int | None, said: str
) -> None:
    outcome = replace(OUTCOME, probe_worst_ms=worst_ms, probes_never=never)
    assert f"| {said} | 5.7 s |" in shown(played(CELL, FIRST, outcome), 7)


def test_what_is_missing_too_much_or_repeated_without_a_mark_is_wrong() -> None:
    assert GOOD.right
    for name in ("missing", "not_expected", "repeats_unmarked"):
        changed: dict[str, Any] = {name: 1}
        bad = replace(OUTCOME, counts=replace(GOOD, **changed))
        assert not bad.counts.right
        assert "**wrong:" in shown(played(CELL, FIRST, bad), 1)
    assert not replace(GOOD, alerted=9).right


def test_a_later_run_adds_to_an_earlier_one_and_takes_the_place_of_what_it_played_anew(
    tmp_path: Path,
) -> None:
    first = read_results(tmp_path / "chaos.json")
    for cell in CELLS[:3]:
        first.add(played(cell, FIRST, OUTCOME))
    second = read_results(tmp_path / "chaos.json")
    assert second.by_title == first.by_title
    second.add(played(CELLS[2], SECOND, problem="not started again"))
    second.add(played(CELLS[3], SECOND, OUTCOME))
    text = "\n".join(lines(read_results(tmp_path / "chaos.json"), CELLS))
    assert f"**3 of {len(CELLS)} cells came out right, 1 wrong**" in text
    run = "2026-01-01 10:00 | aaaaaaa | 2 cores, 4 GiB | 60 s"
    assert f"| 1 | {run} | 2 | burst 100 ms, steady 100 ms |" in text
    run = "2026-01-01 11:00 | bbbbbbb | 2 cores, 4 GiB | 60 s"
    assert f"| 2 | {run} | 2 | steady 100 ms |" in text
    assert "**not started again**" in text
    assert f"- {CELLS[4].title}\n" in text


def test_a_cell_that_came_to_no_rest_is_counted_in_the_sum() -> None:
    results = read_results(None)
    counts = replace(GOOD, alerted=9, missing=1, problem="not all is at rest")
    late = replace(
        OUTCOME, counts=counts, probe_worst_ms=None, normal_again_ms=None, probes_never=4
    )
    results.add(played(CELLS[0], FIRST, late))
    results.add(played(CELLS[1], FIRST, problem="not started again"))
    text = "\n".join(lines(results, CELLS))
    assert "came out right, 2 wrong**, of which 1 ended before anything was counted:" in text
    assert "9 of 10 alerts, 1 missing" in text
    assert "problem='not all is at rest'" in text
    assert "| 4 never | never " in text


def test_every_table_has_as_many_columns_as_its_head() -> None:
    results = read_results(None)
    for number, cell in enumerate(CELLS):
        results.add(played(cell, FIRST, OUTCOME if number % 2 else None, "no | answer"))
    head = ""
    for line in lines(results, CELLS):
        if line.startswith("|"):
            head = head or line
            assert line.count("|") == head.count("|"), line
        else:
            head = ""


def test_what_is_left_is_what_has_no_good_result() -> None:
    results = read_results(None)
    results.add(played(CELLS[0], FIRST, OUTCOME))
    results.add(played(CELLS[1], FIRST, problem="stopped"))
    assert results.left(CELLS) == [*CELLS[2:], CELLS[1]]


def test_cells_that_the_plan_has_no_more_are_forgotten() -> None:
    results = read_results(None)
    results.add(played(CELLS[0], FIRST, OUTCOME))
    results.add(played(CELLS[1], FIRST, OUTCOME))
    results.keep_only(CELLS[1:])
    assert list(results.by_title) == [CELLS[1].title]


@pytest.mark.skipif(shutil.which("git") is None, reason="git is missing: apt-get install git")
def test_a_commit_is_marked_when_anything_but_a_report_has_changed(tmp_path: Path) -> None:
    watch, report = tmp_path / "watch.yaml", tmp_path / "docs" / "reports" / "chaos.md"
    report.parent.mkdir(parents=True)
    for file in (watch, report):
        file.write_text("before")
    for command in ("init -q", "add .", "commit -q -m first"):
        who = ("-c", "user.name=a", "-c", "user.email=a@b.invalid")
        line = ["git", *who, *command.split()]
        subprocess.run(line, cwd=tmp_path, check=True)
    plain = commit(tmp_path)
    report.write_text("after")
    assert commit(tmp_path) == plain != ""
    watch.write_text("after")
    assert commit(tmp_path) == f"{plain}+"
    watch.write_text("before")
    assert commit(tmp_path) == plain
    (tmp_path / "new.py").touch()
    assert commit(tmp_path) == f"{plain}+"
