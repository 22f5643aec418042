"""Every program under every fault while events flow: nothing lost, nothing repeated unmarked.

`make chaos` runs it and writes docs/reports/chaos.md. One test, as all cells share one system and
are measured against its first, undisturbed cell. What each cell came to is kept beside the report,
so runs add up: `CHAOS_ONLY` picks cells whose title it matches as a regular expression,
`CHAOS_LEFT=1` those without a good result; after `CHAOS_MINUTES` no further cell begins.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from services.machine.problems import MachineProblem
from services.machine.waiting import now_seconds
from tests.chaos.cells import Cell, Workload, plan
from tests.chaos.conftest import BATCH_SECONDS
from tests.chaos.disks import Disks
from tests.chaos.probe import TIMES_BASELINE
from tests.chaos.report import write
from tests.chaos.results import Result, Results, Run, read_results, this_run
from tests.chaos.stage import Stage
from tests.chaos.trial import Trial

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(7200)]


@dataclass(frozen=True)
class Asked:
    """What the environment asks for."""

    only: str = os.environ.get("CHAOS_ONLY", "")
    left: bool = bool(os.environ.get("CHAOS_LEFT"))
    minutes: float = float(os.environ.get("CHAOS_MINUTES", "90"))
    report: str | None = os.environ.get("CHAOS_REPORT")

    def path(self, suffix: str) -> Path | None:
        """Return where the report is, or its figures."""
        return Path(self.report).with_suffix(suffix) if self.report else None

    def picked(self, cells: Sequence[Cell], results: Results, disks: Disks) -> list[Cell]:
        """Return the cells to play, each load's undisturbed one before the others of that load."""
        wanted = results.left(cells) if self.left else cells
        only = re.compile(self.only)
        chosen = [cell for cell in wanted if cell.hit and only.search(cell.title)]
        chosen = [cell for cell in chosen if disks.allow(cell.fault)]
        loads = {cell.workload for cell in chosen}
        return [cell for cell in cells if not cell.hit and cell.workload in loads] + chosen


def test_every_accepted_over_purchase_alerts_once_whatever_dies(stage: Stage) -> None:
    asked = Asked()
    cells = plan(stage.auditors())
    results = read_results(asked.path(".json"))
    results.keep_only(cells)
    run = this_run(BATCH_SECONDS)
    limits: dict[Workload, float] = {}
    wrong: list[str] = []
    begun_seconds = now_seconds()
    for cell in asked.picked(cells, results, stage.disks):
        if now_seconds() - begun_seconds > 60 * asked.minutes:
            break
        result = played(stage, cell, limits.get(cell.workload, 0), run)
        results.add(result)
        if (path := asked.path(".md")) is not None:
            write(results, cells, path)
        if result.outcome is not None:
            limits.setdefault(cell.workload, result.outcome.probe_p95_ms * TIMES_BASELINE)
        wrong += [f"{cell.title}: {result.problem or result.outcome}"] * (not result.good)
        if not cell.hit and result.outcome is None:
            break  # without a baseline there is nothing to measure the others against
    assert not wrong, wrong


def played(stage: Stage, cell: Cell, limit_ms: float, run: Run) -> Result:
    """Play a cell; one that cannot be played to its end is a result too."""
    try:
        return Result(cell, run, Trial(stage, cell, limit_ms).play())
    except (MachineProblem, AssertionError) as problem:
        return Result(cell, run, problem=f"{type(problem).__name__}: {problem}"[:500])
