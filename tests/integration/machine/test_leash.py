"""A program is tied to its parent and to its processors before it begins."""

import os
import sys
from pathlib import Path

from services.machine.supervision import child
from services.machine.supervision.cores import Cores
from services.machine.supervision.programs import Program
from tests.cores import needs_choice

NONE_HAS_THAT_MANY = 100_000


def told_by(cores: Cores, log: Path) -> str:
    """Return on which processors a program started with these may run, and what it is told."""
    told = "import os; print(sorted(os.sched_getaffinity(0)))"
    started = child.start(
        Program("told", (sys.executable, "-c", told), cores=cores), log, os.environ
    )
    assert started.process.wait(30) == 0
    return log.read_text("utf-8")


@needs_choice
def test_a_program_keeps_to_its_processors(tmp_path: Path) -> None:
    last = max(os.sched_getaffinity(0))
    assert told_by(frozenset({last}), tmp_path / "log") == f"[{last}]\n"


@needs_choice
def test_where_these_cannot_be_had_it_runs_on_all_and_the_log_says_so(tmp_path: Path) -> None:
    said = told_by(frozenset({NONE_HAS_THAT_MANY}), tmp_path / "log")
    assert said.startswith("runs on all processors: 100000 cannot be had: ")
    assert said.endswith(f"{sorted(os.sched_getaffinity(0))}\n")
